//! Writes small ELF files like a linker, as far as the agent reads them.

use std::collections::BTreeMap;

use crate::asm::{Arch, Asm};

/// Difference of addresses and offsets in the file: a test that confuses them fails.
pub(crate) const BIAS: u64 = 0x1_0000;
/// ELF header and six program headers.
const HEADERS: u64 = 400;

/// A function: name and address range; the name may be empty.
pub(crate) type Function = (String, u64, u64);

/// How a file's pointers get their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pointing {
    /// Relocations with addends.
    Rela,
    /// Packed relocations.
    Relr,
    /// They have their values: the file's address is fixed.
    Fixed,
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Elf {
    pub(crate) code: Asm,
    pub(crate) functions: Vec<Function>,
    /// Exported names of data, by label.
    pub(crate) objects: Vec<(String, String)>,
    /// Data after the code; see [`Elf::data`].
    data: Vec<u8>,
    data_labels: BTreeMap<String, u64>,
    /// Words that become pointers: (offset in the data, label they point to).
    pointers: Vec<(usize, String)>,
    /// 32-bit distances from the first label, in the data, to the second one, in the code: (offset
    /// in the data, labels).
    distances: Vec<(usize, String, String)>,
    /// Words that hold a symbol of another file: (offset in the data, symbol).
    imports: Vec<(usize, String)>,
    /// How pointers get their values.
    pub(crate) pointing: Pointing,
    /// Whether the file has section headers.
    pub(crate) sections: bool,
    pub(crate) build_id: Vec<u8>,
    /// Whether the unwind tables give the functions landing pads for exceptions.
    pub(crate) landing_pads: bool,
}

impl Elf {
    pub(crate) fn new(arch: Arch) -> Self {
        Self {
            code: Asm::new(arch, BIAS + HEADERS),
            functions: Vec::new(),
            objects: Vec::new(),
            data: Vec::new(),
            data_labels: BTreeMap::new(),
            pointers: Vec::new(),
            distances: Vec::new(),
            imports: Vec::new(),
            landing_pads: false,
            pointing: Pointing::Rela,
            sections: true,
            build_id: vec![1, 2, 3, 4, 5, 6, 7, 8],
        }
    }

    /// A function of the given body; an empty name gives one without a symbol.
    pub(crate) fn function(&mut self, name: &str, body: impl FnOnce(&mut Asm)) {
        while !self.code.bytes.len().is_multiple_of(16) {
            self.code.nop();
        }
        let start = self.code.here();
        if !name.is_empty() {
            self.code.label(name);
        }
        body(&mut self.code);
        self.functions.push((name.to_owned(), start, self.code.here()));
    }

    /// Starts a piece of data, aligned to 8 bytes.
    pub(crate) fn data(&mut self, label: &str) {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        assert!(
            self.data_labels.insert(label.to_owned(), self.data.len() as u64).is_none(),
            "data {label} twice"
        );
    }

    pub(crate) fn word(&mut self, value: u64) {
        self.data.extend(value.to_le_bytes());
    }

    /// A pointer to a string, which is placed at the end.
    pub(crate) fn text_pointer(&mut self, text: &str) {
        self.pointers.push((self.data.len(), format!("\"{text}")));
        self.word(0);
    }

    /// A pointer to a label of the code.
    pub(crate) fn code_pointer(&mut self, to: &str) {
        self.pointers.push((self.data.len(), to.to_owned()));
        self.word(0);
    }

    /// A table of distances to labels of the code.
    pub(crate) fn jump_table(&mut self, label: &str, to: &[&str]) {
        self.data(label);
        for to in to {
            self.distances.push((self.data.len(), label.to_owned(), (*to).to_owned()));
            self.data.extend([0; 4]);
        }
    }

    /// A word that will hold the address of another file's symbol.
    pub(crate) fn import(&mut self, label: &str, symbol: &str) {
        self.data(label);
        self.imports.push((self.data.len(), symbol.to_owned()));
        self.word(0);
    }

    /// A string under a label.
    pub(crate) fn text(&mut self, label: &str, text: &str) {
        self.data(label);
        self.data.extend(text.bytes().chain([0]));
    }

    /// Address of a label of the code.
    pub(crate) fn address(&self, label: &str) -> u64 {
        self.code.labels[label]
    }

    /// Offset in the file of a label of the code.
    pub(crate) fn offset(&self, label: &str) -> u64 {
        self.address(label) - BIAS
    }

    /// The complete file.
    pub(crate) fn build(&mut self) -> Vec<u8> {
        let mut out = vec![0; HEADERS as usize];
        self.place_data();
        let start = align(&mut out);
        assert_eq!(start, self.code.base);
        out.extend(&self.code.bytes);
        let data = align(&mut out);
        out.extend(&self.data);
        let frames = frames(&mut out, &self.functions, self.landing_pads);
        let note = note(&mut out, &self.build_id);
        let (symbols, names) = self.symbols(&mut out);
        let relocations = self.relocations(&mut out, data);
        let dynamic = align(&mut out);
        let tags = [(6, symbols.0), (5, names.0), (10, names.1), (11, 24)];
        for (tag, value) in tags.into_iter().chain(relocations).chain([(0, 0)]) {
            push(&mut out, &[tag, value]);
        }
        let dynamic = (dynamic, BIAS + out.len() as u64 - dynamic);
        let section_headers = if self.sections { sections(&mut out, symbols, names) } else { 0 };
        let segments = [
            (1, 5, (BIAS, data - BIAS)),
            (1, 6, (data, BIAS + out.len() as u64 - data)),
            (2, 6, dynamic),
            (0x6474_e550, 4, frames),
            (4, 4, note),
            (0x6474_e551, 6, (0, 0)),
        ];
        self.headers(&mut out, &segments, section_headers);
        out
    }

    /// Strings after the data, pointers to them, labels of the code.
    fn place_data(&mut self) {
        let base = (self.code.base + self.code.bytes.len() as u64).next_multiple_of(16);
        let mut labels: BTreeMap<String, u64> =
            self.data_labels.iter().map(|(name, at)| (name.clone(), base + at)).collect();
        for (at, to) in self.pointers.clone() {
            if let Some(text) = to.strip_prefix('"') {
                let target = *labels.entry(to.clone()).or_insert(base + self.data.len() as u64);
                if target == base + self.data.len() as u64 {
                    self.data.extend(text.bytes().chain([0]));
                }
                // Only RELA has the target elsewhere, in its addend.
                let stored = if self.pointing == Pointing::Rela { 0 } else { target };
                self.data[at..at + 8].copy_from_slice(&stored.to_le_bytes());
                self.data_labels.insert(to, target - base);
            }
        }
        for (at, from, to) in &self.distances {
            let by = self.code.labels[to].wrapping_sub(labels[from]).to_le_bytes();
            self.data[*at..at + 4].copy_from_slice(&by[..4]);
        }
        self.code.finish(&labels);
    }

    /// Symbol table and its names: (address, size) of each.
    fn symbols(&self, out: &mut Vec<u8>) -> (Range, Range) {
        let mut names = vec![0];
        let mut table = vec![0; 24];
        let mut add = |name: &str, info: u8, section: u16, address: u64, size: u64| {
            table.extend(u32::try_from(names.len()).expect("short").to_le_bytes());
            names.extend(name.bytes().chain([0]));
            table.extend([info, 0]);
            table.extend(section.to_le_bytes());
            table.extend(address.to_le_bytes());
            table.extend(size.to_le_bytes());
        };
        // Imports come first, so that their numbers are known to the relocations.
        for (_, symbol) in &self.imports {
            add(symbol, 0x12, 0, 0, 0);
        }
        for (name, start, end) in self.functions.iter().filter(|(name, ..)| !name.is_empty()) {
            add(name, 0x12, 1, *start, end - start);
        }
        let data = (self.code.base + self.code.bytes.len() as u64).next_multiple_of(16);
        for (name, label) in &self.objects {
            add(name, 0x11, 1, data + self.data_labels[label], 8);
        }
        let symbols = range(out, &table);
        // Names directly after the table, as linkers place them.
        let start = BIAS + out.len() as u64;
        out.extend(&names);
        (symbols, (start, names.len() as u64))
    }

    /// Tags of the dynamic section for the relocations.
    fn relocations(&self, out: &mut Vec<u8>, data: u64) -> Vec<(u64, u64)> {
        let (relative, slot) = match self.code.arch {
            Arch::X86 => (8, 7),
            Arch::Arm => (1027, 1026),
        };
        let mut rela = Vec::new();
        let mut relr = Vec::new();
        for (at, to) in &self.pointers {
            let target = self.code.labels.get(to).copied().unwrap_or_else(|| data + self.data_labels[to]);
            let word = data + *at as u64;
            match self.pointing {
                Pointing::Rela => push(&mut rela, &[word, relative, target]),
                Pointing::Relr => relr.push(word),
                Pointing::Fixed => {}
            }
        }
        let rela = range(out, &rela);
        let relr = range(out, &pack(&relr));
        let mut jumps = Vec::new();
        for (number, (at, _)) in (1_u64..).zip(&self.imports) {
            push(&mut jumps, &[data + *at as u64, number << 32 | slot, 0]);
        }
        let jumps = range(out, &jumps);
        vec![(7, rela.0), (8, rela.1), (36, relr.0), (35, relr.1), (23, jumps.0), (2, jumps.1)]
    }

    fn headers(&self, out: &mut [u8], segments: &[(u32, u32, Range)], section_headers: u64) {
        let machine: u16 = match self.code.arch {
            Arch::X86 => 62,
            Arch::Arm => 183,
        };
        let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        head.extend(if self.pointing == Pointing::Fixed { 2_u16 } else { 3 }.to_le_bytes());
        head.extend(machine.to_le_bytes());
        head.extend(1_u32.to_le_bytes());
        push(&mut head, &[0, 64, section_headers]);
        head.extend(0_u32.to_le_bytes());
        let sections = if section_headers == 0 { 0 } else { 3 };
        for half in [64, 56, u16::try_from(segments.len()).expect("few"), 64, sections, 0] {
            head.extend(half.to_le_bytes());
        }
        for (kind, flags, (start, size)) in segments {
            head.extend(kind.to_le_bytes());
            head.extend(flags.to_le_bytes());
            push(&mut head, &[start.saturating_sub(BIAS), *start, *start, *size, *size, 8]);
        }
        out[..head.len()].copy_from_slice(&head);
    }
}

/// Address and size.
type Range = (u64, u64);

fn push(out: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}

fn align(out: &mut Vec<u8>) -> u64 {
    out.resize(out.len().next_multiple_of(16), 0);
    BIAS + out.len() as u64
}

fn range(out: &mut Vec<u8>, bytes: &[u8]) -> Range {
    let start = align(out);
    out.extend(bytes);
    (start, bytes.len() as u64)
}

/// Addresses as RELR: one unchanged, then bits for the 63 words after it.
fn pack(addresses: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = addresses;
    while let [first, others @ ..] = rest {
        push(&mut out, &[*first]);
        rest = others;
        let mut next = first + 8;
        loop {
            let near = rest.iter().take_while(|a| (**a - next) / 8 < 63).count();
            if near == 0 {
                break;
            }
            let bits = rest[..near].iter().fold(1, |bits, a| bits | 2 << ((a - next) / 8));
            push(&mut out, &[bits]);
            rest = &rest[near..];
            next += 63 * 8;
        }
    }
    out
}

/// `.eh_frame` and the table that leads to it; returns the latter.
fn frames(out: &mut Vec<u8>, functions: &[Function], landing_pads: bool) -> Range {
    let common = align(out);
    // Version 1, augmentation "zR", code and data alignment, return register, pointers absolute
    // with 8 bytes. With landing pads "zLR": absolute pointers to their descriptions, too.
    let body: [u8; 12] = if landing_pads {
        [1, b'z', b'L', b'R', 0, 1, 0x78, 16, 2, 0x00, 0x00, 0]
    } else {
        [1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x00, 0, 0, 0]
    };
    out.extend(16_u32.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(body);
    let mut table = Vec::new();
    for (_, start, end) in functions {
        let at = BIAS + out.len() as u64;
        out.extend(if landing_pads { 32_u32 } else { 24 }.to_le_bytes());
        out.extend(u32::try_from(at + 4 - common).expect("near").to_le_bytes());
        push(out, &[*start, end - start]);
        if landing_pads {
            out.push(8);
            push(out, &[*start]);
            out.extend([0; 3]);
        } else {
            out.extend([0; 4]);
        }
        table.push((*start, at));
    }
    out.extend(0_u32.to_le_bytes());
    // Version 1; pointer, count and table absolute: 8, 4 and 8 bytes.
    let mut header = vec![1, 0x00, 0x03, 0x04];
    push(&mut header, &[common]);
    header.extend(u32::try_from(table.len()).expect("few").to_le_bytes());
    table.iter().for_each(|(start, at)| push(&mut header, &[*start, *at]));
    range(out, &header)
}

fn note(out: &mut Vec<u8>, build_id: &[u8]) -> Range {
    // Another note first, with a name and a content that need padding.
    let mut notes = Vec::new();
    for (kind, name, content) in [(1_u32, &b"Linux\0"[..], &[9_u8; 5][..]), (3, b"GNU\0", build_id)] {
        for word in [name.len(), content.len()] {
            notes.extend(u32::try_from(word).expect("short").to_le_bytes());
        }
        notes.extend(kind.to_le_bytes());
        for part in [name, content] {
            notes.extend(part);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
    }
    range(out, &notes)
}

/// Section headers for the dynamic symbols and their names.
fn sections(out: &mut Vec<u8>, symbols: Range, names: Range) -> u64 {
    let at = align(out) - BIAS;
    let mut section = |kind: u32, (start, size): Range, link: u32, entry: u64| {
        out.extend([0; 4]);
        out.extend(kind.to_le_bytes());
        push(out, &[2, start, start.saturating_sub(BIAS), size]);
        out.extend(link.to_le_bytes());
        out.extend([0; 4]);
        push(out, &[8, entry]);
    };
    section(0, (0, 0), 0, 0);
    section(11, symbols, 2, 24);
    section(3, names, 0, 0);
    at
}
