//! Return values of functions, computed with a synthetic memory, on both instruction sets.

use std::collections::BTreeMap;

use profinfer_engine::{Machine, returned};

use crate::asm::{Arch, Asm, BOTH};

/// A buffer's type in the engine's memory.
const TYPE: u64 = 0x7f00_1000;

fn run(mut asm: Asm, memory: &[(u64, u64)]) -> Option<u64> {
    asm.finish(&BTreeMap::from([("text".to_owned(), 0x5000_0123)]));
    let machine = if asm.arch == Arch::X86 { Machine::X86_64 } else { Machine::Arm64 };
    let mut word = |at| memory.iter().find(|(address, _)| *address == at).map(|(_, value)| *value);
    returned(machine, &asm.bytes, asm.base, TYPE, &mut word)
}

fn asm(arch: Arch) -> Asm {
    let mut asm = Asm::new(arch, 0x5555_0000);
    asm.landing_pad();
    asm
}

#[test]
fn a_constant_text() {
    for arch in BOTH {
        let mut f = asm(arch);
        f.nop();
        f.return_address("text");
        assert_eq!(run(f, &[]), Some(0x5000_0123), "{arch:?}");
    }
}

/// Like `get_name` of buffers whose name is in the type's own context.
#[test]
fn a_word_of_the_argument() {
    for arch in BOTH {
        let field = |memory: &[(u64, u64)]| {
            let mut f = asm(arch);
            f.return_field(0x38);
            run(f, memory)
        };
        assert_eq!(field(&[(TYPE + 0x38, 0x1234)]), Some(0x1234), "{arch:?}");
        assert_eq!(field(&[(TYPE, 0x1234)]), None, "{arch:?}: memory that cannot be read");
        let mut f = asm(arch);
        f.return_field_address(0x40);
        assert_eq!(run(f, &[]), Some(TYPE + 0x40), "{arch:?}");
    }
}

#[test]
fn nothing_is_guessed() {
    for arch in BOTH {
        let mut condition = asm(arch);
        condition.jump_if_result("text");
        condition.return_address("text");
        let mut call = asm(arch);
        call.call("text");
        call.return_address("text");
        let mut cut = asm(arch);
        cut.nop();
        let mut long = asm(arch);
        (0..40).for_each(|_| long.nop());
        long.return_address("text");
        let mut other = asm(arch);
        other.ret();
        for (what, f) in
            [("condition", condition), ("call", call), ("no end", cut), ("too long", long), ("other", other)]
        {
            // On arm64 the first argument is in the result register: returned as it is.
            let expected = (what == "other" && arch == Arch::Arm).then_some(TYPE);
            assert_eq!(run(f, &[]), expected, "{arch:?}: {what}");
        }
    }
}
