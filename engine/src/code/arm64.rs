//! Decodes arm64 instructions for [`decode`](super::decode), with `yaxpeax-arm`.

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction as Decoded, Opcode, Operand, ShiftStyle, SizeCode};

use super::emulated::emulated_arm64;
use super::instruction::{Effect, Flow, Instruction, InstructionSet, Register, Through};

pub(super) const DECODER: InstructionSet =
    InstructionSet { decode, effect, mnemonic, compared, through, is_no_op };

/// Length of every instruction in bytes.
const WIDTH: u8 = 4;

fn decode(bytes: &[u8], address: u64) -> Vec<Instruction> {
    let words = bytes.chunks_exact(usize::from(WIDTH));
    let at = (address..).step_by(usize::from(WIDTH));
    words.zip(at).map(|(word, address)| instruction(word, address)).collect()
}

fn instruction(word: &[u8], address: u64) -> Instruction {
    let flow = single(word).map_or(Flow::Stop, |i| flow(&i, address));
    let emulated = word.try_into().is_ok_and(|w| emulated_arm64(u32::from_le_bytes(w)));
    Instruction { address, length: WIDTH, flow, emulated }
}

fn single(word: &[u8]) -> Option<Decoded> {
    InstDecoder::default().decode(&mut U8Reader::new(word)).ok()
}

fn flow(i: &Decoded, address: u64) -> Flow {
    let target = || {
        i.operands.iter().find_map(|o| match o {
            Operand::PCOffset(by) => Some(address.wrapping_add_signed(*by)),
            _ => None,
        })
    };
    let to = |make: fn(u64) -> Flow| target().map_or(Flow::Stop, make);
    match i.opcode {
        Opcode::B => to(Flow::Jump),
        Opcode::BL => to(Flow::Call),
        Opcode::Bcc(_) | Opcode::CBZ | Opcode::CBNZ | Opcode::TBZ | Opcode::TBNZ => to(Flow::Branch),
        Opcode::BR | Opcode::BRAA | Opcode::BRAAZ | Opcode::BRAB | Opcode::BRABZ => Flow::JumpAny,
        Opcode::BLR | Opcode::BLRAA | Opcode::BLRAAZ | Opcode::BLRAB | Opcode::BLRABZ => Flow::CallAny,
        Opcode::RET | Opcode::RETAA | Opcode::RETAB | Opcode::ERET => Flow::Return,
        Opcode::BRK | Opcode::UDF | Opcode::HLT => Flow::Stop,
        _ => Flow::Next,
    }
}

/// The constant of `cmp w, #constant`.
fn compared(bytes: &[u8], _: u64) -> Option<u64> {
    let word = u32::from_le_bytes(bytes.try_into().ok()?);
    // subs wzr, w, #imm12 without shift (Arm ARM, C6.2 "SUBS (immediate)")
    (word & 0xffc0_001f == 0x7100_001f).then_some((word >> 10 & 0xfff).into())
}

/// `blr` or `br`.
fn through(bytes: &[u8], _: u64) -> Option<Through> {
    let i = single(bytes).filter(|i| matches!(i.opcode, Opcode::BLR | Opcode::BR))?;
    general(&i.operands[0]).map(Through::Register)
}

fn mnemonic(word: &[u8], _: u64) -> String {
    single(word).map(|i| i.opcode.to_string()).unwrap_or_default()
}

/// `nop`.
fn is_no_op(word: &[u8], _: u64) -> bool {
    word == [0x1f, 0x20, 0x03, 0xd5]
}

fn effect(word: &[u8], address: u64) -> Effect {
    let Some(i) = single(word) else { return Effect::Unknown };
    let [first, second, third, _] = i.operands;
    if let Some(base) = written_back(&i) {
        return if saves_link(&i) { Effect::SaveLink } else { Effect::Write { to: base } };
    }
    let memory = i.operands.iter().find_map(memory);
    match i.opcode {
        Opcode::STR
        | Opcode::STUR
        | Opcode::STP
        | Opcode::STNP
        | Opcode::STRB
        | Opcode::STRH
        | Opcode::STURB
        | Opcode::STURH => match memory {
            _ if saves_link(&i) => Effect::SaveLink,
            Some((base, offset)) => Effect::Store { base, offset, from: general(&first) },
            // An address that is the sum of two registers.
            None => Effect::None,
        },
        Opcode::LDR
        | Opcode::LDUR
        | Opcode::LDRB
        | Opcode::LDRH
        | Opcode::LDRSW
        | Opcode::LDRSB
        | Opcode::LDRSH
        | Opcode::LDURB
        | Opcode::LDURH
        | Opcode::LDURSW => match (general(&first), memory) {
            (Some(to), Some((base, offset))) => Effect::Load { to, base, offset },
            (None, Some((base, offset))) => Effect::Look { base, offset },
            (Some(to), None) => Effect::Write { to },
            (None, None) => Effect::None,
        },
        Opcode::LDP | Opcode::LDPSW => match (general(&first), general(&second), memory) {
            (Some(a), Some(b), Some((base, offset))) => Effect::LoadPair { to: [a, b], base, offset },
            (None, None, Some((base, offset))) => Effect::Look { base, offset },
            _ => Effect::Unknown,
        },
        Opcode::ADRP | Opcode::ADR => match (general(&first), second) {
            (Some(to), Operand::PCOffset(by)) => {
                let from = if i.opcode == Opcode::ADRP { address & !0xfff } else { address };
                Effect::Constant { to, value: from.wrapping_add_signed(by) }
            }
            _ => Effect::Unknown,
        },
        // Pointers are 64 bits wide: a 32-bit sum is not one.
        Opcode::ADD | Opcode::SUB => match (general(&first), wide(&second), immediate(&third)) {
            (Some(to), Some(from), Some(0)) => Effect::Copy { to, from },
            (Some(to), Some(from), Some(by)) => {
                Effect::Add { to, from, add: if i.opcode == Opcode::SUB { -by } else { by } }
            }
            (Some(to), ..) => Effect::Write { to },
            (None, ..) => Effect::None,
        },
        Opcode::ORR => match (general(&first), second, third) {
            (
                Some(to),
                Operand::Register(SizeCode::X, ZERO),
                Operand::RegShift(ShiftStyle::LSL, 0, _, from),
            ) => narrow(from).map_or(Effect::Write { to }, |from| Effect::Copy { to, from }),
            (Some(to), ..) => Effect::Write { to },
            (None, ..) => Effect::None,
        },
        Opcode::MOVZ => match (general(&first), second) {
            (Some(to), Operand::ImmShift(value, by)) => {
                Effect::Constant { to, value: u64::from(value).checked_shl(by.into()).unwrap_or(0) }
            }
            _ => Effect::Unknown,
        },
        // Control flow: `flow` describes what calls change.
        Opcode::B
        | Opcode::BL
        | Opcode::BLR
        | Opcode::BR
        | Opcode::RET
        | Opcode::Bcc(_)
        | Opcode::CBZ
        | Opcode::CBNZ
        | Opcode::TBZ
        | Opcode::TBNZ
        | Opcode::BRK
        | Opcode::UDF
        | Opcode::HINT => Effect::None,
        // Signs the return address in place: a return probe after it would break the check.
        Opcode::PACIASP | Opcode::PACIBSP => Effect::SaveLink,
        _ => other(&i),
    }
}

/// For the many remaining instructions, the first operand is the written one, except in atomics.
fn other(i: &Decoded) -> Effect {
    let name = i.opcode.to_string();
    let memory = i.operands.iter().any(|o| memory(o).is_some());
    if memory
        || ["ld", "st", "cas", "swp", "msr", "sys", "cpy", "set", "bl"].iter().any(|p| name.starts_with(p))
    {
        return Effect::Unknown;
    }
    match i.operands[0] {
        Operand::Register(_, ZERO)
        | Operand::SIMDRegister(..)
        | Operand::SIMDRegisterElements(..)
        | Operand::SIMDRegisterElementsLane(..)
        | Operand::Nothing => Effect::None,
        ref first => general(first).map_or(Effect::Unknown, |to| Effect::Write { to }),
    }
}

/// Number of the zero register.
const ZERO: u16 = 31;

fn narrow(register: u16) -> Option<Register> {
    u8::try_from(register).ok().filter(|&r| r < 31)
}

/// Number of a general register, `sp` included, the zero register excluded.
fn general(operand: &Operand) -> Option<Register> {
    match *operand {
        Operand::Register(_, number) => narrow(number),
        Operand::RegisterOrSP(_, number) => u8::try_from(number).ok(),
        _ => None,
    }
}

/// Number of a general register, if the instruction uses all 64 bits of it.
fn wide(operand: &Operand) -> Option<Register> {
    match operand {
        Operand::Register(SizeCode::X, _) | Operand::RegisterOrSP(SizeCode::X, _) => general(operand),
        _ => None,
    }
}

fn immediate(operand: &Operand) -> Option<i64> {
    match *operand {
        Operand::Immediate(value) => Some(value.into()),
        Operand::Imm64(value) => i64::try_from(value).ok(),
        Operand::Imm16(value) => Some(value.into()),
        Operand::ImmShift(value, by) => i64::from(value).checked_shl(by.into()),
        _ => None,
    }
}

/// Base register and constant of a memory operand without write-back.
fn memory(operand: &Operand) -> Option<(Register, i64)> {
    match *operand {
        Operand::RegPreIndex(base, by, false) => Some((u8::try_from(base).ok()?, by.into())),
        _ => None,
    }
}

/// Base register that the instruction changes.
fn written_back(i: &Decoded) -> Option<Register> {
    i.operands.iter().find_map(|o| match *o {
        Operand::RegPreIndex(base, _, true)
        | Operand::RegPostIndex(base, _)
        | Operand::RegPostIndexReg(base, _) => u8::try_from(base).ok(),
        _ => None,
    })
}

fn saves_link(i: &Decoded) -> bool {
    let stores = matches!(i.opcode, Opcode::STR | Opcode::STUR | Opcode::STP | Opcode::STNP);
    stores && i.operands[..2].contains(&Operand::Register(SizeCode::X, 30))
}

#[cfg(test)]
mod tests {
    use super::{decode, effect, mnemonic};
    use crate::code::instruction::{Effect, Flow, Through};

    #[test]
    fn where_control_goes() {
        let cases = [
            (0x9400_0004, Flow::Call(0x1010)),
            (0x17ff_fffe, Flow::Jump(0xff8)),
            (0x5400_0041, Flow::Branch(0x1008)), // b.ne
            (0x3400_0048, Flow::Branch(0x1008)), // cbz w8
            (0x3707_fff5, Flow::Branch(0xffc)),  // tbnz w21, #0
            (0xd63f_0100, Flow::CallAny),
            (0xd61f_0220, Flow::JumpAny),
            (0xd65f_03c0, Flow::Return),
            (0xd65f_0bff, Flow::Return), // retaa
            (0xd420_0020, Flow::Stop),
            (0x0000_0000, Flow::Stop),
            (0x9104_0000, Flow::Next),
        ];
        for (word, flow) in cases {
            assert_eq!(decode(&u32::to_le_bytes(word), 0x1000)[0].flow, flow, "{word:08x}");
        }
    }

    #[test]
    fn what_calls_go_through() {
        let through = |word: u32| super::through(&word.to_le_bytes(), 0);
        assert_eq!(through(0xd63f_0100), Some(Through::Register(8))); // blr x8
        assert_eq!(through(0xd61f_0220), Some(Through::Register(17))); // br x17
        assert_eq!(through(0x9400_0004), None); // bl
    }

    #[test]
    fn what_is_compared() {
        assert_eq!(super::compared(&u32::to_le_bytes(0x7101_6d1f), 0), Some(91)); // cmp w8, #91
        assert_eq!(super::compared(&u32::to_le_bytes(0x6b09_011f), 0), None); // cmp w8, w9
        assert_eq!(super::compared(&u32::to_le_bytes(0xf101_6d1f), 0), None); // cmp x8, #91
    }

    #[test]
    fn what_registers_become() {
        let cases = [
            (0xaa01_03e0, Effect::Copy { to: 0, from: 1 }),   // mov x0, x1
            (0x2a01_03e0, Effect::Write { to: 0 }),           // mov w0, w1
            (0x9100_03fd, Effect::Copy { to: 29, from: 31 }), // mov x29, sp
            (0x9104_0000, Effect::Add { to: 0, from: 0, add: 256 }), // add x0, x0, #256
            (0xd100_c3ff, Effect::Add { to: 31, from: 31, add: -48 }), // sub sp, sp, #48
            (0x1100_0400, Effect::Write { to: 0 }),           // add w0, w0, #1
            (0xb000_0001, Effect::Constant { to: 1, value: 0x2000 }), // adrp x1, 0x2000
            (0x5280_2e00, Effect::Constant { to: 0, value: 368 }), // mov w0, #368
            (0xf940_7c00, Effect::Load { to: 0, base: 0, offset: 248 }), // ldr x0, [x0, #248]
            (0xb940_5028, Effect::Load { to: 8, base: 1, offset: 80 }), // ldr w8, [x1, #80]
            (0x3dc0_0400, Effect::Look { base: 0, offset: 16 }), // ldr q0, [x0, #16]
            (0xa941_2408, Effect::LoadPair { to: [8, 9], base: 0, offset: 16 }), // ldp x8, x9, [x0, #16]
            (0xf900_2f00, Effect::Store { base: 24, offset: 88, from: Some(0) }), // str x0, [x24, #88]
            (0xa9bf_7bfd, Effect::SaveLink),                  // stp x29, x30, [sp, #-16]!
            (0xf81f_0ffe, Effect::SaveLink),                  // str x30, [sp, #-16]!
            (0xd503_233f, Effect::SaveLink),                  // paciasp
            (0xa9bf_4ff4, Effect::Write { to: 31 }),          // stp x20, x19, [sp, #-16]!
            (0xd503_245f, Effect::None),                      // bti c
            (0x7101_6d1f, Effect::None),                      // cmp w8, #91
            (0x0b09_0108, Effect::Write { to: 8 }),           // add w8, w8, w9
            (0x4ea1_1c20, Effect::None),                      // mov v0.16b, v1.16b
            (0xf821_0020, Effect::Unknown),                   // ldadd
        ];
        for (word, expected) in cases {
            let bytes = u32::to_le_bytes(word);
            assert_eq!(effect(&bytes, 0x1000), expected, "{word:08x} {}", mnemonic(&bytes, 0));
        }
    }
}
