//! Which instructions the kernel emulates under a uprobe.
//!
//! The kernel executes any other instruction out of line under a single-step trap, which costs far
//! more than the probe itself (35 times, in a virtual machine). Sources: Linux
//! `arch/x86/kernel/uprobes.c` (`branch_setup_xol_ops`, `push_setup_xol_ops`) and
//! `arch/arm64/kernel/probes/decode-insn.c` (`arm_probe_decode_insn`). Promises: `true` only for
//! instructions that every kernel since 5.8 emulates. A wrong answer can only cost time, never
//! break anything.

/// `push` of a 64-bit register, `nop`, and `call`, `jmp` and conditional jumps to a relative
/// address.
///
/// Kernel 6.16 and later also emulate the long no-ops. They are left out because earlier kernels do
/// not.
pub(crate) fn emulated_x86(instruction: &[u8]) -> bool {
    match *instruction {
        [0x50..=0x57] | [0x41, 0x50..=0x57] => true,
        [0x90] => true,
        [0xe8 | 0xe9, _, _, _, _] | [0xeb | 0x70..=0x7f, _] => true,
        [0x0f, 0x80..=0x8f, _, _, _, _] => true,
        // With the `bnd` prefix of old CET or MPX builds.
        [0xf2, 0xe8 | 0xe9, _, _, _, _] | [0xf2, 0x0f, 0x80..=0x8f, _, _, _, _] => true,
        _ => false,
    }
}

/// Branches of every kind, and `adr`, `adrp`.
///
/// `nop` is emulated only since 6.13, and a literal load cannot be probed at all since 6.12.
pub(crate) fn emulated_arm64(word: u32) -> bool {
    let is = |mask: u32, value: u32| word & mask == value;
    is(0x7c00_0000, 0x1400_0000) // b, bl
        || is(0xff00_0010, 0x5400_0000) // b.cond
        || is(0x7e00_0000, 0x3400_0000) // cbz, cbnz
        || is(0x7e00_0000, 0x3600_0000) // tbz, tbnz
        || is(0x1f00_0000, 0x1000_0000) // adr, adrp
        || is(0xffff_fc1f, 0xd61f_0000) // br
        || is(0xffff_fc1f, 0xd63f_0000) // blr
        || is(0xffff_fc1f, 0xd65f_0000) // ret
}

#[cfg(test)]
mod tests {
    use super::{emulated_arm64, emulated_x86};

    #[test]
    fn x86() {
        let emulated: [&[u8]; 9] = [
            &[0x55],                   // push rbp
            &[0x41, 0x57],             // push r15
            &[0x90],                   // nop
            &[0xe8, 1, 2, 3, 4],       // call
            &[0xf2, 0xe8, 1, 2, 3, 4], // bnd call
            &[0xe9, 1, 2, 3, 4],       // jmp
            &[0xeb, 0x10],             // jmp short
            &[0x75, 0x1f],             // jne
            &[0x0f, 0x84, 1, 2, 3, 4], // je near
        ];
        let single_stepped: [&[u8]; 9] = [
            &[0xf3, 0x0f, 0x1e, 0xfa], // endbr64
            &[0x48, 0x83, 0xec, 0x18], // sub rsp
            &[0x48, 0x89, 0xe5],       // mov
            &[0xc3],                   // ret
            &[0xff, 0x15, 1, 2, 3, 4], // call [rip+…]
            &[0x3e, 0xff, 0xe0],       // notrack jmp rax
            &[0x66, 0xe8, 1, 2],       // callw: the kernel refuses to probe it
            &[0x0f, 0x1f, 0x44, 0, 0], // long nop: since 6.16 only
            &[0x40, 0x55],             // push with an empty rex prefix
        ];
        assert!(emulated.iter().all(|i| emulated_x86(i)));
        assert!(!single_stepped.iter().any(|i| emulated_x86(i)));
    }

    #[test]
    fn arm64() {
        let emulated = [
            0x1400_0001,
            0x97ff_fffe, // b, bl
            0x5400_0041, // b.ne
            0x3400_0048,
            0xb500_0048, // cbz w8, cbnz x8
            0x3700_0040,
            0xb6f8_0040, // tbnz w0, tbz x0
            0x9000_0a40,
            0x1000_0000, // adrp, adr
            0xd61f_0220,
            0xd63f_0100,
            0xd65f_03c0, // br, blr, ret
        ];
        let single_stepped = [
            0xd503_245f,
            0xd503_233f,
            0xd503_201f, // bti c, paciasp, nop
            0xa9bd_7bfd,
            0xd100_c3ff,
            0x5800_0040, // stp, sub sp, ldr literal
            0x5400_0051, // bc.ne (FEAT_HBC)
            0xd73f_0800, // blraa
        ];
        assert!(emulated.into_iter().all(emulated_arm64));
        assert!(!single_stepped.into_iter().any(emulated_arm64));
    }
}
