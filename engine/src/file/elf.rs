//! One ELF file: its segments, its symbols and how addresses map to file offsets.
//!
//! Stage: before attaching. From: the bytes of a file that a process maps. To: [`Image`], which
//! every other part of the crate reads. Promises: no panic, and no allocation larger than the file
//! allows, whatever the bytes. Section headers are used where present, but never needed.

use std::cell::OnceCell;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::dynamic::{DT_STRTAB, DT_SYMTAB};
use goblin::elf::program_header::{PF_W, PF_X, PT_GNU_EH_FRAME, PT_LOAD};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_SYMTAB};
use goblin::elf::sym::{STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, Symtab};
use goblin::elf::{Dynamic, Header, ProgramHeader, SectionHeader, header};

use super::error::ElfError;
use super::frame::Frame;

const CTX: Ctx = Ctx { container: Container::Big, le: Endian::Little };
const SYMBOL_SIZE: u64 = 24;
/// Addresses of programs are in the lower half of 64 bits.
const HIGHEST: u64 = i64::MAX.cast_unsigned();
/// More loaded segments than any linker makes.
const MOST_SEGMENTS: usize = 64;
/// Most copies of a text that are examined.
const MOST_PLACES: usize = 4096;
/// Symbols with longer names are left out; none of them matters here.
const LONGEST_NAME: usize = 1024;

/// Instruction set of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// arm64, little-endian.
    Arm64,
}

/// A symbol that the file defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol<'d> {
    /// Name as in the file.
    pub(crate) name: &'d str,
    /// Virtual address as in the file.
    pub(crate) address: u64,
    /// Size in bytes; 0 when unknown.
    pub(crate) size: u64,
    /// Whether it is in the dynamic table, which stripping keeps.
    pub(crate) exported: bool,
}

/// A 64-bit ELF file for a supported machine.
#[derive(Debug)]
pub struct Image<'d> {
    pub(crate) path: String,
    pub(crate) data: &'d [u8],
    pub(crate) machine: Machine,
    /// Whether addresses in the file are final, so that pointers need no relocation.
    pub(crate) fixed: bool,
    pub(crate) segments: Vec<ProgramHeader>,
    pub(crate) sections: Vec<SectionHeader>,
    pub(crate) dynamic: Option<Dynamic>,
    /// Section with the names of sections.
    section_names: usize,
    /// Functions by their frame descriptions, where no table leads to them; read when first needed.
    pub(crate) unsorted_frames: OnceCell<Vec<Frame>>,
}

impl<'d> Image<'d> {
    /// Reads the headers of `bytes`, the complete content of the file `path`.
    ///
    /// # Errors
    /// When the bytes are not a 64-bit ELF file for x86-64 or arm64, or when they end before a
    /// segment that the process would map.
    pub fn parse(path: &str, bytes: &'d [u8]) -> Result<Self, ElfError> {
        let path = path.to_owned();
        let size = bytes.len() as u64;
        if !bytes.starts_with(header::ELFMAG) {
            return Err(ElfError::NotElf { path });
        }
        let cut = |path, what, end| Err(ElfError::Cut { path, what, end, size });
        if bytes.len() < header::header64::SIZEOF_EHDR {
            return cut(path, "the ELF header", header::header64::SIZEOF_EHDR as u64);
        }
        if bytes[header::EI_CLASS] != header::ELFCLASS64 {
            return Err(ElfError::Not64Bit { path });
        }
        if bytes[header::EI_DATA] != header::ELFDATA2LSB {
            return Err(ElfError::WrongMachine { path, machine: "a big-endian machine".into() });
        }
        let broken = |path, e: goblin::error::Error| ElfError::Broken { path, what: e.to_string() };
        let head = match goblin::elf::Elf::parse_header(bytes) {
            Ok(head) => head,
            Err(e) => return Err(broken(path, e)),
        };
        let machine = match head.e_machine {
            header::EM_X86_64 if cfg!(not(feature = "x86")) => {
                return Err(ElfError::LeftOut { path, machine: "x86-64" });
            }
            header::EM_AARCH64 if cfg!(not(feature = "arm64")) => {
                return Err(ElfError::LeftOut { path, machine: "arm64" });
            }
            header::EM_X86_64 => Machine::X86_64,
            header::EM_AARCH64 => Machine::Arm64,
            other => {
                return Err(ElfError::WrongMachine { path, machine: header::machine_to_str(other).into() });
            }
        };
        let table_end = head.e_phoff.saturating_add(u64::from(head.e_phnum) * 56);
        if table_end > size {
            return cut(path, "the program header table", table_end);
        }
        let segments = ProgramHeader::parse(bytes, offset(head.e_phoff), usize::from(head.e_phnum), CTX)
            .map_err(|e| broken(path.clone(), e))?;
        for segment in segments.iter().filter(|s| s.p_type == PT_LOAD) {
            let Some(end) = segment.p_offset.checked_add(segment.p_filesz) else {
                return Err(ElfError::Broken { path, what: "a segment's size overflows".into() });
            };
            if end > size {
                return cut(path, "a loaded segment", end);
            }
            let last = segment.p_vaddr.checked_add(segment.p_memsz.max(segment.p_filesz));
            if last.is_none_or(|last| last > HIGHEST) {
                return Err(ElfError::Broken { path, what: "a segment's address overflows".into() });
            }
        }
        if segments.iter().filter(|s| s.p_type == PT_LOAD).count() > MOST_SEGMENTS {
            return Err(ElfError::Broken {
                path,
                what: format!("more than {MOST_SEGMENTS} loaded segments"),
            });
        }
        // Sections may be stripped or be beyond a cut. A process runs without them, so this code
        // works without them.
        let sections = sections(bytes, &head);
        let dynamic = Dynamic::parse(bytes, &segments, CTX).ok().flatten();
        Ok(Self {
            path,
            data: bytes,
            machine,
            fixed: head.e_type == header::ET_EXEC,
            segments,
            sections,
            dynamic,
            section_names: usize::from(head.e_shstrndx),
            unsorted_frames: OnceCell::new(),
        })
    }

    /// The file's path as given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The file's instruction set.
    #[must_use]
    pub const fn machine(&self) -> Machine {
        self.machine
    }

    /// Value of a tag of the dynamic section.
    pub(crate) fn dynamic_value(&self, tag: u64) -> Option<u64> {
        self.dynamic.as_ref()?.dyns.iter().find(|d| d.d_tag == tag).map(|d| d.d_val)
    }

    /// Loaded bytes from a virtual address to the end of its segment's content in the file.
    pub(crate) fn at(&self, address: u64) -> Option<&'d [u8]> {
        let segment = self.segment(address)?;
        let from = address - segment.p_vaddr;
        let (start, end) = (segment.p_offset + from, segment.p_offset + segment.p_filesz);
        self.data.get(offset(start)..offset(end))
    }

    /// Loaded bytes `address..address + length`.
    pub(crate) fn bytes(&self, address: u64, length: u64) -> Option<&'d [u8]> {
        self.at(address)?.get(..offset(length))
    }

    pub(crate) fn u64(&self, address: u64) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(address, 8)?.try_into().ok()?))
    }

    /// Printable ASCII text of at most `limit` bytes that ends with a zero byte.
    pub(crate) fn text(&self, address: u64, limit: usize) -> Option<&'d str> {
        let bytes = self.at(address)?;
        let bytes = &bytes[..bytes.len().min(limit + 1)];
        let text = &bytes[..bytes.iter().position(|&b| b == 0)?];
        if text.iter().all(|b| (0x20..0x7f).contains(b)) { std::str::from_utf8(text).ok() } else { None }
    }

    /// Virtual addresses of the text with its final zero byte. It may be the end of a longer text.
    pub(crate) fn places(&self, text: &str) -> Vec<u64> {
        let wanted = [text.as_bytes(), b"\0"].concat();
        let finder = memchr::memmem::Finder::new(&wanted);
        let loaded = self.segments.iter().filter(|s| s.p_type == PT_LOAD);
        let bytes = loaded.filter_map(|s| Some((s.p_vaddr, self.at(s.p_vaddr)?)));
        let all = bytes.flat_map(|(start, bytes)| {
            finder.find_iter(bytes).map(move |at| start + at as u64).collect::<Vec<_>>()
        });
        all.take(MOST_PLACES).collect()
    }

    /// Offset in the file of a loaded virtual address.
    pub(crate) fn file_offset(&self, address: u64) -> Option<u64> {
        let segment = self.segment(address)?;
        Some(address - segment.p_vaddr + segment.p_offset)
    }

    /// Virtual address ranges with machine code, with their bytes.
    pub(crate) fn code(&self) -> impl Iterator<Item = (u64, &'d [u8])> + '_ {
        let code = self.segments.iter().filter(|s| s.p_type == PT_LOAD && s.p_flags & PF_X != 0);
        code.filter_map(|s| Some((s.p_vaddr, self.at(s.p_vaddr)?)))
    }

    /// Virtual address ranges without machine code, with their bytes.
    pub(crate) fn data_segments(&self) -> impl Iterator<Item = (u64, &'d [u8])> + '_ {
        let data = self.segments.iter().filter(|s| s.p_type == PT_LOAD && s.p_flags & PF_X == 0);
        data.filter_map(|s| Some((s.p_vaddr, self.at(s.p_vaddr)?)))
    }

    /// Whether these bytes are in a segment that the program may write to.
    #[must_use]
    pub fn writable_has(&self, bytes: &[u8]) -> bool {
        let mut writable = self.segments.iter().filter(|s| s.p_type == PT_LOAD && s.p_flags & PF_W != 0);
        writable.any(|s| self.at(s.p_vaddr).is_some_and(|part| memchr::memmem::find(part, bytes).is_some()))
    }

    /// Whether the address is in machine code.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.segment(address).is_some_and(|s| s.p_flags & PF_X != 0)
    }

    /// Address and bytes of the frame descriptions, by the name of their section: static programs
    /// have no table of them.
    pub(crate) fn frame_section(&self) -> Option<(u64, &'d [u8])> {
        let names = self.sections.get(self.section_names)?;
        let names = self.raw(names.sh_offset, names.sh_size)?;
        let section = self.sections.iter().find(|s| name_at(names, s.sh_name) == Some(".eh_frame"))?;
        Some((section.sh_addr, self.bytes(section.sh_addr, section.sh_size)?))
    }

    /// Address and bytes of the table that leads to the frame descriptions.
    pub(crate) fn frame_header(&self) -> Option<(u64, &'d [u8])> {
        let segment = self.segments.iter().find(|s| s.p_type == PT_GNU_EH_FRAME)?;
        Some((segment.p_vaddr, self.bytes(segment.p_vaddr, segment.p_filesz)?))
    }

    /// Every defined function and object, of the dynamic table and of the full one if there is one.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = Symbol<'d>> + '_ {
        [(SHT_DYNSYM, true), (SHT_SYMTAB, false)].into_iter().flat_map(move |(kind, exported)| {
            let (table, names) = self.symbol_table(kind).unwrap_or_default();
            table.into_iter().filter_map(move |s| {
                let kind = matches!(s.st_type(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC | STT_NOTYPE);
                let defined = s.st_shndx != 0 && s.st_value != 0;
                if !kind || !defined {
                    return None;
                }
                let name = name_at(names, s.st_name)?;
                Some(Symbol { name, address: s.st_value, size: s.st_size, exported })
            })
        })
    }

    /// Name of entry `index` of the dynamic symbol table, defined or not, and its address (0 if
    /// undefined).
    pub(crate) fn dynamic_symbols(&self) -> DynamicSymbols<'d> {
        let (table, names) = self.symbol_table(SHT_DYNSYM).unwrap_or_default();
        DynamicSymbols { table, names }
    }

    fn symbol_table(&self, kind: u32) -> Option<(Symtab<'d>, &'d [u8])> {
        if let Some(section) = self.sections.iter().find(|s| s.sh_type == kind) {
            let names = self.sections.get(offset(section.sh_link.into()))?;
            let names = self.raw(names.sh_offset, names.sh_size)?;
            self.raw(section.sh_offset, section.sh_size)?;
            let count = offset(section.sh_size / SYMBOL_SIZE);
            return Some((Symtab::parse(self.data, offset(section.sh_offset), count, CTX).ok()?, names));
        }
        if kind != SHT_DYNSYM {
            return None;
        }
        // Without section headers no field has the table's length, but all linkers put the names
        // directly after it.
        let (symbols, names) = (self.dynamic_value(DT_SYMTAB)?, self.dynamic_value(DT_STRTAB)?);
        let count = names.checked_sub(symbols)? / SYMBOL_SIZE;
        self.bytes(symbols, count * SYMBOL_SIZE)?;
        let start = offset(self.file_offset(symbols)?);
        Some((Symtab::parse(self.data, start, offset(count), CTX).ok()?, self.at(names)?))
    }

    fn raw(&self, start: u64, size: u64) -> Option<&'d [u8]> {
        self.data.get(offset(start)..offset(start.checked_add(size)?))
    }

    fn segment(&self, address: u64) -> Option<&ProgramHeader> {
        let loaded = self.segments.iter().filter(|s| s.p_type == PT_LOAD);
        loaded.into_iter().find(|s| address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
    }
}

/// The dynamic symbol table by index, as relocations name it.
#[derive(Debug, Default)]
pub(crate) struct DynamicSymbols<'d> {
    table: Symtab<'d>,
    names: &'d [u8],
}

impl<'d> DynamicSymbols<'d> {
    /// Name and address of an entry; the address is 0 for a symbol of another file.
    pub(crate) fn get(&self, index: usize) -> Option<(&'d str, u64)> {
        let symbol = self.table.get(index)?;
        Some((name_at(self.names, symbol.st_name)?, symbol.st_value))
    }
}

fn sections(bytes: &[u8], head: &Header) -> Vec<SectionHeader> {
    if head.e_shoff == 0 || head.e_shoff >= bytes.len() as u64 {
        return Vec::new();
    }
    SectionHeader::parse(bytes, offset(head.e_shoff), usize::from(head.e_shnum), CTX).unwrap_or_default()
}

fn name_at(names: &[u8], start: usize) -> Option<&str> {
    let rest = names.get(start..)?;
    let end = rest.iter().take(LONGEST_NAME).position(|&b| b == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// File offsets and lengths fit `usize` on every machine for which the agent is built.
pub(crate) fn offset(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(all(test, not(all(feature = "arm64", feature = "x86"))))]
mod tests {
    use super::{ElfError, Image};

    #[test]
    fn a_file_whose_decoder_is_left_out_is_refused() {
        // ELFCLASS64, little-endian, version 1; ET_DYN.
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[16] = 3;
        let machines = [(62, "x86-64", cfg!(feature = "x86")), (183, "arm64", cfg!(feature = "arm64"))];
        for (number, machine, _) in machines.into_iter().filter(|m| !m.2) {
            bytes[18] = number;
            let refused = Image::parse("made", &bytes).map(|i| i.machine());
            assert_eq!(refused, Err(ElfError::LeftOut { path: "made".into(), machine }));
        }
    }
}
