//! Detects which loaded programs have a per-CPU private stack, from the machine code that the
//! kernel generated.

use std::collections::BTreeSet;

use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};

/// Longest program name that the kernel keeps, without the terminating zero.
const NAME: usize = 15;

/// Returns the loaded programs with these names, of any process, whose machine code computes the
/// address of a private stack. `None` if the kernel does not show machine code.
#[must_use]
pub fn with_private_stack(names: &BTreeSet<String>) -> Option<Vec<String>> {
    let wanted: BTreeSet<&str> = names.iter().map(|n| &n[..n.floor_char_boundary(NAME)]).collect();
    let opts = ProgInfoQueryOptions::default().include_jited_prog_insns(true);
    let (mut shown, mut found) = (false, Vec::new());
    for program in ProgInfoIter::with_query_opts(opts) {
        let name = program.name.to_string_lossy();
        if !wanted.contains(&*name) {
            continue;
        }
        shown |= !program.jited_prog_insns.is_empty();
        if has_private_stack(&program.jited_prog_insns) {
            found.push(name.into_owned());
        }
    }
    shown.then_some(found)
}

/// x86-64 keeps the address in r9 and adds the offset of the CPU's memory: `add r9, gs:[…]`.
/// Nothing else uses that register.
#[cfg(target_arch = "x86_64")]
fn has_private_stack(code: &[u8]) -> bool {
    use iced_x86::{Code, Decoder, DecoderOptions, Register};

    Decoder::new(64, code, DecoderOptions::NONE).iter().any(|i| {
        i.code() == Code::Add_r64_rm64
            && i.op0_register() == Register::R9
            && i.segment_prefix() == Register::GS
    })
}

/// arm64 keeps the address in x27: `add x27, x27, xN`. Nothing else adds to that register.
#[cfg(target_arch = "aarch64")]
fn has_private_stack(code: &[u8]) -> bool {
    const REGISTERS: u32 = 0x001f_0000;
    const ADD_X27_X27: u32 = 0x8b00_037b;
    code.as_chunks().0.iter().any(|word| u32::from_le_bytes(*word) & !REGISTERS == ADD_X27_X27)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{has_private_stack, with_private_stack};
    use crate::sys::private_stack::{DEEP_PROGRAM, deep_program};

    /// Positive control: on a kernel with private stacks, a program that must have one is found. So
    /// a result of none for the agent's programs is meaningful.
    #[test]
    fn a_deep_program_is_found() {
        let Some(_loaded) = deep_program() else {
            return profinfer_skip::skip("this kernel has no private stacks, or refuses BPF programs");
        };
        let name = BTreeSet::from([DEEP_PROGRAM.to_owned()]);
        match with_private_stack(&name) {
            None => profinfer_skip::skip("this kernel shows no machine code"),
            found => assert_eq!(found, Some(vec![DEEP_PROGRAM.to_owned()])),
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn an_address_of_the_cpus_memory_in_r9_is_one() {
        // movabs r9, 1; add r9, gs:[0x28]; ret
        let private = [0x49, 0xb9, 1, 0, 0, 0, 0, 0, 0, 0, 0x65, 0x4c, 0x03, 0x0c, 0x25, 0x28, 0, 0, 0, 0xc3];
        assert!(has_private_stack(&private));
        // The same in rdi, as for a per-CPU map, and a constant with similar bytes: movabs r9,
        // 0x2825_0c03_4c65.
        assert!(!has_private_stack(&[0x65, 0x48, 0x03, 0x3c, 0x25, 0x28, 0, 0, 0, 0xc3]));
        assert!(!has_private_stack(&[0x49, 0xb9, 0x65, 0x4c, 0x03, 0x0c, 0x25, 0x28, 0, 0, 0xc3]));
    }
}
