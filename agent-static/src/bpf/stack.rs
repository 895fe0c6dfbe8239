//! Computes the stack usage of a BPF program's functions from its instructions.
//!
//! Since Linux 6.13 (x86-64; arm64 later), a function of a uprobe program that uses more than
//! [`STACK_MAX`] bytes may get a per-CPU stack. A program on a uprobe can be preempted, so two
//! tasks on one CPU then write to the same stack, which crashes the kernel. `build.rs` checks the
//! compiled programs against the limit, and `Bpf::load` checks the loaded ones.
//!
//! Input: instructions, from the object file or libbpf. Output: bytes. Guarantee: an upper bound of
//! the verifier's result for any constants set before loading, because it also counts the branches
//! that these disable.

/// Most bytes of stack that a function may use. `BPF_PRIV_STACK_MIN_SIZE` in the kernel's verifier
/// is 64, and the verifier rounds up to 16.
pub const STACK_MAX: u32 = 48;

/// One instruction, as include/uapi/linux/bpf.h declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Insn {
    pub code: u8,
    /// Register that is written, or the base of a store.
    pub dst: u8,
    /// Register that is read, or the base of a load.
    pub src: u8,
    /// Offset of a load or store.
    pub off: i16,
    /// Immediate value.
    pub imm: i32,
}

impl Insn {
    /// Decodes eight bytes in this machine's byte order, for which the object is compiled.
    #[must_use]
    pub const fn read(b: [u8; 8]) -> Self {
        Self {
            code: b[0],
            dst: b[1] & 15,
            src: b[1] >> 4,
            off: i16::from_le_bytes([b[2], b[3]]),
            imm: i32::from_le_bytes([b[4], b[5], b[6], b[7]]),
        }
    }
}

/// Frame pointer, `BPF_REG_10`.
const FRAME: u8 = 10;
/// Instruction classes, and the two instructions that compute stack addresses.
const LDX: u8 = 0x01;
const ST: u8 = 0x02;
const STX: u8 = 0x03;
const ALU: u8 = 0x04;
const ALU64: u8 = 0x07;
const MOV64_REGISTER: u8 = 0xbf;
const ADD64_NUMBER: u8 = 0x07;
const CALL: u8 = 0x85;
const PSEUDO_CALL: u8 = 1;

/// Bytes of stack that one function uses.
#[must_use]
pub fn depth(function: &[Insn]) -> u32 {
    // Distance from the frame pointer, for registers that hold a stack address.
    let mut distance: [Option<i32>; 16] = [None; 16];
    distance[usize::from(FRAME)] = Some(0);
    let mut lowest = 0;
    for i in function {
        let (dst, src) = (usize::from(i.dst), usize::from(i.src));
        let used = match i.code & 7 {
            LDX => distance[src],
            ST | STX => distance[dst],
            _ => None,
        };
        lowest = lowest.min(used.map_or(0, |base| base + i32::from(i.off)));
        match i.code {
            MOV64_REGISTER => distance[dst] = distance[src],
            ADD64_NUMBER => distance[dst] = distance[dst].map(|base| base + i.imm),
            code if matches!(code & 7, LDX | ALU | ALU64) => distance[dst] = None,
            _ => {}
        }
        // Every computed stack address counts, because it will be used.
        lowest = lowest.min(distance[dst].unwrap_or(0));
    }
    lowest.unsigned_abs()
}

/// The functions of a loaded program: the main program first, then the functions that it calls.
#[must_use]
pub fn functions(program: &[Insn]) -> Vec<&[Insn]> {
    let calls = program.iter().enumerate().filter(|(_, i)| i.code == CALL && i.src == PSEUDO_CALL);
    let targets = calls.filter_map(|(at, i)| at.checked_add_signed(isize::try_from(i.imm).ok()? + 1));
    let mut starts: Vec<usize> = targets.chain([0]).filter(|at| *at < program.len()).collect();
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([program.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| program.get(*start..end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn insn(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> Insn {
        Insn { code, dst, src, off, imm }
    }
    const EXIT: Insn = insn(0x95, 0, 0, 0, 0);

    #[test]
    fn loads_stores_and_addresses_count() {
        assert_eq!(depth(&[EXIT]), 0);
        // *(u64 *)(r10 - 40) = r1
        assert_eq!(depth(&[insn(0x7b, 10, 1, -40, 0), EXIT]), 40);
        // r2 = r10; r2 += -56
        assert_eq!(depth(&[insn(0xbf, 2, 10, 0, 0), insn(0x07, 2, 0, 0, -56), EXIT]), 56);
        // The same through a copy, and a store to it: r3 = r2; *(u8 *)(r3 - 8) = 0
        let copy = [
            insn(0xbf, 2, 10, 0, 0),
            insn(0x07, 2, 0, 0, -56),
            insn(0xbf, 3, 2, 0, 0),
            insn(0x72, 3, 0, -8, 0),
        ];
        assert_eq!(depth(&copy), 64);
        // An overwritten register is not an address: r2 = 7; *(u64 *)(r2 - 64) = r1
        let other = [insn(0xbf, 2, 10, 0, 0), insn(0xb7, 2, 0, 0, 7), insn(0x7b, 2, 1, -64, 0)];
        assert_eq!(depth(&other), 0);
    }

    #[test]
    fn a_program_is_split_at_call_targets() {
        // call +1; exit; *(u64 *)(r10 - 96) = r1; exit
        let program = [insn(0x85, 0, 1, 0, 1), EXIT, insn(0x7b, 10, 1, -96, 0), EXIT];
        let depths: Vec<u32> = functions(&program).into_iter().map(depth).collect();
        assert_eq!(depths, [0, 96]);
        // A call of a helper is not a call of a function. A call with an invalid target is skipped.
        assert_eq!(functions(&[insn(0x85, 0, 0, 0, 1), insn(0x85, 0, 1, 0, 99), EXIT]).len(), 1);
    }
}
