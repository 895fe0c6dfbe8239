//! A few instructions of both sets, assembled by hand, with labels.

use std::collections::BTreeMap;

/// Instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arch {
    X86,
    Arm,
}

/// Both, for tests that run on each.
pub(crate) const BOTH: [Arch; 2] = [Arch::X86, Arch::Arm];

/// Bytes with labels that are resolved at the end.
#[derive(Debug)]
pub(crate) struct Asm {
    pub(crate) arch: Arch,
    pub(crate) base: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) labels: BTreeMap<String, u64>,
    fixups: Vec<(usize, Fixup, String)>,
}

#[derive(Debug, Clone, Copy)]
enum Fixup {
    /// 32 bits, relative to their end.
    Relative32,
    /// b, bl.
    Branch26,
    /// b.cond, cbz.
    Branch19,
    /// adrp, then an instruction whose 12-bit immediate counts `1 << .0` bytes.
    Page(u32),
}

impl Asm {
    pub(crate) fn new(arch: Arch, base: u64) -> Self {
        Self { arch, base, bytes: Vec::new(), labels: BTreeMap::new(), fixups: Vec::new() }
    }

    pub(crate) fn here(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    pub(crate) fn label(&mut self, name: &str) {
        let here = self.here();
        assert!(self.labels.insert(name.to_owned(), here).is_none(), "label {name} twice");
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn word(&mut self, word: u32) {
        self.raw(&word.to_le_bytes());
    }

    fn fix(&mut self, fixup: Fixup, to: &str) {
        self.fixups.push((self.bytes.len(), fixup, to.to_owned()));
    }

    /// One or the other.
    fn either(&mut self, x86: &[u8], arm: &[u32]) {
        match self.arch {
            Arch::X86 => self.raw(x86),
            Arch::Arm => arm.iter().for_each(|word| self.word(*word)),
        }
    }

    /// `endbr64`, or `bti c`.
    pub(crate) fn landing_pad(&mut self) {
        self.either(&[0xf3, 0x0f, 0x1e, 0xfa], &[0xd503_245f]);
    }

    pub(crate) fn nop(&mut self) {
        self.either(&[0x90], &[0xd503_201f]);
    }

    /// `push %rbx`, or `stp x29, x30, [sp, #-16]!`.
    pub(crate) fn prologue(&mut self) {
        self.either(&[0x53], &[0xa9bf_7bfd]);
    }

    /// `push -8(%r10)`, or `stp x29, x30, [sp, #-16]!`.
    pub(crate) fn push_memory(&mut self) {
        self.either(&[0x41, 0xff, 0x72, 0xf8], &[0xa9bf_7bfd]);
    }

    /// `sub $16, %rsp`.
    pub(crate) fn move_stack(&mut self) {
        self.either(&[0x48, 0x83, 0xec, 0x10], &[0xd100_43ff]);
    }

    pub(crate) fn ret(&mut self) {
        self.either(&[0xc3], &[0xd65f_03c0]);
    }

    pub(crate) fn call(&mut self, to: &str) {
        match self.arch {
            Arch::X86 => {
                self.raw(&[0xe8]);
                self.fix(Fixup::Relative32, to);
                self.raw(&[0; 4]);
            }
            Arch::Arm => {
                self.fix(Fixup::Branch26, to);
                self.word(0x9400_0000);
            }
        }
    }

    pub(crate) fn jump(&mut self, to: &str) {
        match self.arch {
            Arch::X86 => {
                self.raw(&[0xe9]);
                self.fix(Fixup::Relative32, to);
                self.raw(&[0; 4]);
            }
            Arch::Arm => {
                self.fix(Fixup::Branch26, to);
                self.word(0x1400_0000);
            }
        }
    }

    /// `test %al,%al; jne`, or `cbnz w0`.
    pub(crate) fn jump_if_result(&mut self, to: &str) {
        match self.arch {
            Arch::X86 => {
                self.raw(&[0x84, 0xc0, 0x0f, 0x85]);
                self.fix(Fixup::Relative32, to);
                self.raw(&[0; 4]);
            }
            Arch::Arm => {
                self.fix(Fixup::Branch19, to);
                self.word(0x3500_0000);
            }
        }
    }

    /// `jmp *%rax`, or `br x8`: through a table.
    pub(crate) fn jump_table(&mut self) {
        self.either(&[0xff, 0xe0], &[0xd61f_0100]);
    }

    /// Jumps through the table at a label, if the value read is not above `last`: cmp, ja, lea,
    /// movslq, add, jmp. On arm64 as [`Self::jump_table`], without a table.
    pub(crate) fn switch(&mut self, last: u8, table: &str, otherwise: &str) {
        if self.arch == Arch::Arm {
            return self.jump_table();
        }
        self.compare(last);
        self.raw(&[0x0f, 0x87]);
        self.fix(Fixup::Relative32, otherwise);
        self.raw(&[0, 0, 0, 0, 0x48, 0x8d, 0x0d]);
        self.fix(Fixup::Relative32, table);
        self.raw(&[0, 0, 0, 0, 0x48, 0x63, 0x04, 0x81, 0x48, 0x01, 0xc8]);
        self.jump_table();
    }

    /// Jumps to a label if the compared values are equal: with a displacement of 8 bits on x86-64.
    pub(crate) fn short_jump(&mut self, to: u64) {
        let by = to.wrapping_sub(self.here() + 2).to_le_bytes()[0];
        self.raw(&[0x74, by]);
    }

    /// Calls through the pointer at a label; x86-64 only.
    pub(crate) fn call_slot(&mut self, slot: &str) {
        self.raw(&[0xff, 0x15]);
        self.fix(Fixup::Relative32, slot);
        self.raw(&[0; 4]);
    }

    /// `jmp *offset(%rdi)`, or `ldr x2, [x0, #offset]; br x2`.
    pub(crate) fn jump_through_field(&mut self, offset: u8) {
        self.either(&[0xff, 0x67, offset], &[0xf940_0002 | u32::from(offset / 8) << 10, 0xd61f_0040]);
    }

    /// Calls through the word at an offset from a callee-saved register, with that register as
    /// first argument. The second is an address in the frame or a pointer that is read; the label
    /// names the call.
    pub(crate) fn call_through_callee_saved(&mut self, label: &str, offset: u8, address: bool) {
        // lea 16(%rsp),%rsi or mov 16(%rsp),%rsi; add x1, sp, #16 or ldr x1, [sp, #16]
        self.either(
            &[0x48, if address { 0x8d } else { 0x8b }, 0x74, 0x24, 16],
            &[if address { 0x9100_43e1 } else { 0xf940_0be1 }],
        );
        // mov %rbx,%rdi; ldr x8, [x19, #offset] and mov x0, x19
        self.either(&[0x48, 0x89, 0xdf], &[0xf940_0268 | u32::from(offset / 8) << 10, 0xaa13_03e0]);
        self.label(label);
        // call *offset(%rbx); blr x8
        self.either(&[0xff, 0x53, offset], &[0xd63f_0100]);
    }

    /// Stub of a procedure linkage table that jumps through the word at a label.
    pub(crate) fn stub(&mut self, slot: &str) {
        self.landing_pad();
        match self.arch {
            Arch::X86 => {
                self.raw(&[0xff, 0x25]);
                self.fix(Fixup::Relative32, slot);
                self.raw(&[0; 4]);
            }
            Arch::Arm => {
                self.fix(Fixup::Page(3), slot);
                self.word(0x9000_0010); // adrp x16, page
                self.word(0xf940_0211); // ldr x17, [x16, #offset]
                self.word(0x9100_0210); // add x16, x16, #offset (not fixed up: unused)
                self.word(0xd61f_0220); // br x17
            }
        }
    }

    /// Returns the first argument plus a constant.
    pub(crate) fn return_field_address(&mut self, offset: u32) {
        let [a, b, c, d] = offset.to_le_bytes();
        self.either(&[0x48, 0x8d, 0x87, a, b, c, d, 0xc3], &[0x9100_0000 | offset << 10, 0xd65f_03c0]);
    }

    /// Returns the 64-bit word at an offset from the first argument.
    pub(crate) fn return_field(&mut self, offset: u32) {
        let [a, b, c, d] = offset.to_le_bytes();
        self.either(&[0x48, 0x8b, 0x87, a, b, c, d, 0xc3], &[0xf940_0000 | (offset / 8) << 10, 0xd65f_03c0]);
    }

    /// Reads the 32-bit word at an offset from the second argument into a scratch register.
    pub(crate) fn read_second(&mut self, offset: u32) {
        let [a, b, c, d] = offset.to_le_bytes();
        self.either(&[0x8b, 0x86, a, b, c, d], &[0xb940_0028 | (offset / 4) << 10]);
    }

    /// Reads the 32-bit word at an offset from the first argument into a scratch register.
    pub(crate) fn read_first(&mut self, offset: u32) {
        let [a, b, c, d] = offset.to_le_bytes();
        self.either(&[0x8b, 0x87, a, b, c, d], &[0xb940_0008 | (offset / 4) << 10]);
    }

    /// Reads the operator of a tensor, as compilers do: with a short offset.
    pub(crate) fn read_operator(&mut self, second: bool) {
        if second {
            self.either(&[0x8b, 0x46, 80], &[0xb940_5028]);
        } else {
            self.either(&[0x8b, 0x47, 80], &[0xb940_5008]);
        }
    }

    /// Compares the value read with a constant.
    pub(crate) fn compare(&mut self, with: u8) {
        self.either(&[0x83, 0xf8, with], &[0x7100_011f | u32::from(with) << 10]);
    }

    /// Returns a constant.
    pub(crate) fn return_constant(&mut self, value: u16) {
        let [a, b] = value.to_le_bytes();
        self.either(&[0xb8, a, b, 0, 0, 0xc3], &[0x5280_0000 | u32::from(value) << 5, 0xd65f_03c0]);
    }

    /// Stores the result of a call at an offset of 88, from a callee-saved register or in the
    /// function's own frame.
    pub(crate) fn store_result_at_88(&mut self, own_frame: bool) {
        if own_frame {
            self.either(&[0x48, 0x89, 0x44, 0x24, 0x58], &[0xf900_2fe0]);
        } else {
            self.either(&[0x48, 0x89, 0x43, 0x58], &[0xf900_2e60]);
        }
    }

    /// Adds 1 to the word at a label, atomically, and returns the previous value.
    pub(crate) fn count_up(&mut self, counter: &str) {
        match self.arch {
            Arch::X86 => {
                self.raw(&[0xb8, 1, 0, 0, 0, 0xf0, 0x48, 0x0f, 0xc1, 0x05]);
                self.fix(Fixup::Relative32, counter);
                self.raw(&[0; 4]);
            }
            Arch::Arm => {
                self.fix(Fixup::Page(0), counter);
                self.word(0x9000_0001); // adrp x1, page
                self.word(0x9100_0021); // add x1, x1, #offset
                self.word(0x5280_0020); // mov w0, #1
                self.word(0xf821_0020); // ldadd x1, x0, [x1]
            }
        }
        self.ret();
    }

    /// Returns the address of a label.
    pub(crate) fn return_address(&mut self, of: &str) {
        match self.arch {
            Arch::X86 => {
                self.raw(&[0x48, 0x8d, 0x05]);
                self.fix(Fixup::Relative32, of);
                self.raw(&[0; 4]);
            }
            Arch::Arm => {
                self.fix(Fixup::Page(0), of);
                self.word(0x9000_0000); // adrp x0, page
                self.word(0x9100_0000); // add x0, x0, #offset
            }
        }
        self.ret();
    }

    /// Resolves the labels, those of `outside` included.
    pub(crate) fn finish(&mut self, outside: &BTreeMap<String, u64>) {
        for (at, fixup, to) in std::mem::take(&mut self.fixups) {
            let target =
                *self.labels.get(&to).or_else(|| outside.get(&to)).unwrap_or_else(|| panic!("no label {to}"));
            let (place, bytes) = (self.base + at as u64, &mut self.bytes);
            let mut add = |at: usize, bits: u32| {
                let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) | bits;
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            };
            let masked = |value: i64, bits: u32| u32::try_from(value & ((1 << bits) - 1)).expect("masked");
            let by = target.cast_signed() - place.cast_signed();
            match fixup {
                Fixup::Relative32 => add(at, masked(by - 4, 32)),
                Fixup::Branch26 => add(at, masked(by >> 2, 26)),
                Fixup::Branch19 => add(at, masked(by >> 2, 19) << 5),
                Fixup::Page(scale) => {
                    let pages = (target >> 12).cast_signed() - (place >> 12).cast_signed();
                    add(at, masked(pages, 2) << 29 | masked(pages >> 2, 19) << 5);
                    add(at + 4, (masked(target.cast_signed(), 12) >> scale) << 10);
                }
            }
        }
    }
}
