//! Which instructions do the same at any address.
//!
//! Promises: `true` only for instructions that read and write registers and memory, none of it
//! relative to their own address, and that continue with the next one. Only the few forms that
//! occur at the ends of operators are known: a wrong `false` costs a probe, a wrong `true` an
//! engine.

/// Bytes of a call or a jump on x86-64 that reaches 2 GiB: `call rel32`, `jmp rel32`.
pub(crate) const JUMP: u8 = 5;

/// Moves, comparisons and sums of general registers with memory or constants, without prefixes
/// except REX.
///
/// Source: Intel SDM, volume 2, appendix A (opcode maps), and table 2-7 for operands relative to
/// the instruction.
pub(crate) fn movable_x86(instruction: &[u8]) -> bool {
    let plain = match *instruction {
        [0x40..=0x4f, ref rest @ ..] => rest,
        _ => instruction,
    };
    match *plain {
        // mov, movslq, lea; mov of a constant
        [0x88..=0x8b | 0x63 | 0x8d, operands, ..] => fixed(operands),
        // The other opcodes of this number begin transactions.
        [0xc6 | 0xc7, operands, ..] if operands & 0x38 == 0 => fixed(operands),
        // cmp, add, sub, and, or, xor, test; with a constant
        [0x80 | 0x81 | 0x83 | 0x84 | 0x85, operands, ..] => fixed(operands),
        [0x00..=0x3f, operands, ..] if plain[0] & 7 < 4 => fixed(operands),
        // movzx, movsx
        [0x0f, 0xb6 | 0xb7 | 0xbe | 0xbf, operands, ..] => fixed(operands),
        // mov of a constant into a register
        [0xb8..=0xbf, ..] => true,
        _ => false,
    }
}

/// Whether the operands, by the ModRM byte, are not relative to the instruction.
const fn fixed(operands: u8) -> bool {
    operands & 0xc7 != 5
}

/// Arithmetic, and loads and stores that are neither exclusive nor ordered nor literal.
///
/// Source: Arm ARM, C4.1 "A64 instruction set encoding".
pub(crate) fn movable_arm64(word: u32) -> bool {
    let is = |mask: u32, value: u32| word & mask == value;
    let relative = is(0x1f00_0000, 0x1000_0000); // adr, adrp
    let immediate = is(0x1c00_0000, 0x1000_0000) && !relative;
    let registers = is(0x0e00_0000, 0x0a00_0000);
    let vectors = is(0x0e00_0000, 0x0e00_0000);
    // Pairs, and registers with an offset or with another register; atomics have bit 21 and not bit
    // 11.
    let pairs = is(0x3a00_0000, 0x2800_0000);
    let unsigned = is(0x3b00_0000, 0x3900_0000);
    let others =
        is(0x3b00_0000, 0x3800_0000) && (!is(0x0020_0000, 0x0020_0000) || is(0x0000_0c00, 0x0000_0800));
    immediate || registers || vectors || pairs || unsigned || others
}

#[cfg(test)]
mod tests {
    use super::{movable_arm64, movable_x86};

    #[test]
    fn x86() {
        let movable: [&[u8]; 9] = [
            &[0x48, 0x8b, 0x84, 0x24, 0x40, 1, 0, 0], // mov 0x140(%rsp),%rax
            &[0x41, 0x83, 0xbf, 8, 2, 0, 0, 0],       // cmpl $0,0x208(%r15)
            &[0x48, 0x8b, 0x44, 0x24, 0x28],          // mov 0x28(%rsp),%rax
            &[0x8b, 0x80, 0x18, 2, 0, 0],             // mov 0x218(%rax),%eax
            &[0x48, 0x3b, 0x8c, 0x24, 0x40, 1, 0, 0], // cmp 0x140(%rsp),%rcx
            &[0x0f, 0xb6, 0x84, 0x24, 0x40, 1, 0, 0], // movzbl 0x140(%rsp),%eax
            &[0xbf, 1, 0, 0, 0],                      // mov $1,%edi
            &[0xc7, 0x44, 0x24, 8, 1, 0, 0, 0],       // movl $1,8(%rsp)
            &[0x4d, 0x8d, 0xa4, 0x24, 0x40, 1, 0, 0], // lea 0x140(%r12),%r12
        ];
        let fixed: [&[u8]; 18] = [
            &[0xc7, 0xf8, 1, 2, 3, 4],                   // xbegin
            &[0x48, 0x8b, 0x05, 1, 2, 3, 4],             // mov …(%rip),%rax
            &[0x48, 0x8d, 0x0d, 1, 2, 3, 4],             // lea …(%rip),%rcx
            &[0x83, 0x3d, 1, 2, 3, 4, 0],                // cmpl $0,…(%rip)
            &[0x0f, 0xb6, 0x05, 1, 2, 3, 4],             // movzbl …(%rip),%eax
            &[0xe8, 1, 2, 3, 4],                         // call
            &[0xe9, 1, 2, 3, 4],                         // jmp
            &[0x0f, 0x84, 1, 2, 3, 4],                   // je
            &[0xff, 0x15, 1, 2, 3, 4],                   // call *…(%rip)
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],             // call *…(%rsp)
            &[0xff, 0xb4, 0x24, 1, 2, 3, 4],             // push …(%rsp)
            &[0xf0, 0x83, 0x84, 0x24, 1, 2, 3, 4, 1],    // lock addl
            &[0x64, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],    // mov %fs:0x28,%eax
            &[0xf3, 0x0f, 0x10, 0x84, 0x24, 1, 2, 3, 4], // movss: none of the known forms
            &[0x68, 1, 2, 3, 4],                         // push $…
            &[0xc8, 1, 2, 3],                            // enter
            &[0x0f, 0x05],                               // syscall
            &[0xf3, 0x0f, 0x1e, 0xfa],                   // endbr64
        ];
        assert!(movable.iter().all(|i| movable_x86(i)));
        let wrong: Vec<_> = fixed.iter().filter(|i| movable_x86(i)).collect();
        assert!(wrong.is_empty(), "{wrong:x?}");
    }

    #[test]
    fn arm64() {
        let movable = [
            0xb942_1a68, // ldr w8, [x19, #536]
            0xf940_7fe0, // ldr x0, [sp, #248]
            0xf901_0b20, // str x0, [x25, #528]
            0xa941_2408, // ldp x8, x9, [x0, #16]
            0xa8c1_7bfd, // ldp x29, x30, [sp], #16
            0xb85f_8008, // ldur w8, [x0, #-8]
            0xf868_7900, // ldr x0, [x8, x8, lsl #3]
            0x3dc0_0400, // ldr q0, [x0, #16]
            0x1100_0400, // add w0, w0, #1
            0x7100_001f, // cmp w0, #0
            0x5280_2e00, // mov w0, #368
            0xaa01_03e0, // mov x0, x1
            0x6b09_011f, // cmp w8, w9
            0x4ea1_1c20, // mov v0.16b, v1.16b
        ];
        let fixed = [
            0x9000_0a40, // adrp
            0x1000_0000, // adr
            0x5800_0040, // ldr literal
            0x1c00_0040, // ldr s0, literal
            0xd800_0000, // prfm literal
            0x1400_0001, // b
            0x9400_0001, // bl
            0x5400_0041, // b.ne
            0x3400_0048, // cbz
            0x3700_0040, // tbnz
            0xd61f_0220, // br
            0xd63f_0100, // blr
            0xd65f_03c0, // ret
            0xc85f_7c00, // ldxr
            0xc800_7c01, // stxr
            0x88df_fc00, // ldar
            0xf821_0020, // ldadd
            0xc8a1_7c02, // cas
            0xd503_245f, // bti c
            0xd503_233f, // paciasp
            0xd503_201f, // nop
            0xd400_0001, // svc
            0xd420_0020, // brk
            0xd53b_d040, // mrs x0, tpidr_el0
            0x0420_0000, // SVE
            0x0000_0000, // udf
        ];
        assert!(movable.into_iter().all(movable_arm64));
        let wrong: Vec<_> =
            fixed.into_iter().filter(|i| movable_arm64(*i)).map(|i| format!("{i:08x}")).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
