//! Relocations: which words of a file become pointers, and which slots hold the address of a
//! symbol.
//!
//! Stage: before attaching. From: [`Image`]. To: [`Relocations`], through which
//! [`tables`](crate::facts::tables) reads arrays of strings and [`calls`](crate::symbols::calls)
//! learns the targets of calls. Promises: the values that the dynamic linker would write, for RELA
//! and RELR, without symbols of other files.

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::RelocSection;
use goblin::elf::dynamic::{DT_JMPREL, DT_PLTRELSZ, DT_RELA, DT_RELASZ};

use super::elf::{Image, Machine, offset};

const CTX: Ctx = Ctx { container: Container::Big, le: Endian::Little };
/// System V gABI, "Relative Relocations".
const DT_RELRSZ: u64 = 35;
const DT_RELR: u64 = 36;

/// The values that the dynamic linker writes into a file's data.
#[derive(Debug, Default)]
pub(crate) struct Relocations<'d> {
    /// Address of a word → address that it will point to, for targets in the same file.
    pointers: Vec<(u64, u64)>,
    /// Address of a word → symbol whose address it will hold.
    slots: Vec<(u64, &'d str)>,
}

impl<'d> Relocations<'d> {
    pub(crate) fn read(image: &Image<'d>) -> Self {
        let mut all = Self::default();
        for (table, size) in [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)] {
            all.read_rela(image, table, size);
        }
        all.read_relr(image);
        if image.fixed {
            all.read_fixed(image);
        }
        // Both are looked up by address.
        all.pointers.sort_by_key(|(word, _)| *word);
        all.slots.sort_by_key(|(word, _)| *word);
        all
    }

    fn read_rela(&mut self, image: &Image<'d>, table: u64, size: u64) {
        let (Some(table), Some(size)) = (image.dynamic_value(table), image.dynamic_value(size)) else {
            return;
        };
        let Some(bytes) = image.bytes(table, size) else { return };
        let Ok(entries) = RelocSection::parse(bytes, 0, bytes.len() / 24 * 24, true, CTX) else { return };
        let symbols = image.dynamic_symbols();
        // Numbers: psABI of x86-64 table 4.10, ELF for AArch64 "Dynamic relocations".
        let (relative, absolute, slots) = match image.machine {
            Machine::X86_64 => (8, 1, [6, 7]),
            Machine::Arm64 => (1027, 257, [1025, 1026]),
        };
        for entry in entries.iter() {
            let addend = entry.r_addend.unwrap_or(0);
            if entry.r_type == relative {
                self.pointers.push((entry.r_offset, addend.cast_unsigned()));
            } else if entry.r_type == absolute || slots.contains(&entry.r_type) {
                let Some((name, address)) = symbols.get(entry.r_sym) else { continue };
                self.slots.push((entry.r_offset, name));
                if address != 0 && entry.r_type == absolute {
                    self.pointers.push((entry.r_offset, address.wrapping_add_signed(addend)));
                }
            }
        }
    }

    /// An even word is an address; an odd one shows which of the 63 words after it are pointers,
    /// too.
    fn read_relr(&mut self, image: &Image<'d>) {
        let (Some(table), Some(size)) = (image.dynamic_value(DT_RELR), image.dynamic_value(DT_RELRSZ)) else {
            return;
        };
        let Some(bytes) = image.bytes(table, size) else { return };
        let mut next = 0_u64;
        for word in bytes.chunks_exact(8) {
            let Ok(word) = word.try_into().map(u64::from_le_bytes) else { return };
            if word & 1 == 0 {
                self.pointer_in_place(image, word);
                next = word.wrapping_add(8);
                continue;
            }
            for bit in (1..64).filter(|bit| word >> bit & 1 == 1) {
                self.pointer_in_place(image, next.wrapping_add((bit - 1) * 8));
            }
            next = next.wrapping_add(63 * 8);
        }
    }

    /// A file at a fixed address needs no relocations: a pointer is any word that could be one.
    fn read_fixed(&mut self, image: &Image<'_>) {
        for (start, bytes) in image.data_segments() {
            let first = start.next_multiple_of(8);
            let bytes = bytes.get(offset(first - start)..).unwrap_or_default();
            for (address, word) in (first..).step_by(8).zip(bytes.chunks_exact(8)) {
                let target = word.try_into().map_or(0, u64::from_le_bytes);
                if image.at(target).is_some() {
                    self.pointers.push((address, target));
                }
            }
        }
    }

    fn pointer_in_place(&mut self, image: &Image<'_>, address: u64) {
        // A file has no more words than that, however often a broken table names them.
        if let Some(target) = image.u64(address).filter(|_| self.pointers.len() < image.data.len() / 8) {
            self.pointers.push((address, target));
        }
    }

    /// Where the word at `address` will point to, in the same file.
    pub(crate) fn pointer(&self, address: u64) -> Option<u64> {
        find(&self.pointers, address).copied()
    }

    /// Words that will be pointers into the same file, in order of address: (word, target).
    pub(crate) fn pointers(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.pointers.iter().copied()
    }

    /// Symbol whose address the word will hold.
    pub(crate) fn slot(&self, address: u64) -> Option<&'d str> {
        find(&self.slots, address).copied()
    }

    /// Text that the word at `address` will point to.
    pub(crate) fn text<'i>(&self, image: &Image<'i>, address: u64, limit: usize) -> Option<&'i str> {
        image.text(self.pointer(address)?, limit)
    }
}

fn find<T>(table: &[(u64, T)], address: u64) -> Option<&T> {
    let first = table.partition_point(|(word, _)| *word < address);
    table.get(first).filter(|(word, _)| *word == address).map(|(_, value)| value)
}

/// Number of bytes in a pointer of the supported engines.
pub(crate) const POINTER: u64 = 8;
