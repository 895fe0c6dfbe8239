//! Decodes x86-64 instructions for [`decode`](super::decode), with `iced-x86`.

use iced_x86::{Code, Decoder, DecoderOptions, Mnemonic, OpKind, Register as Name};

use super::emulated::emulated_x86;
use super::instruction::{Effect, Flow, Instruction, InstructionSet, Register, Through};

pub(super) const DECODER: InstructionSet =
    InstructionSet { decode, effect, mnemonic, compared, through, is_no_op };

const STACK: Register = 4;

fn decode(bytes: &[u8], address: u64) -> Vec<Instruction> {
    let mut out = Vec::with_capacity(bytes.len() / 4);
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let mut one = iced_x86::Instruction::default();
    while decoder.can_decode() {
        let start = decoder.position();
        decoder.decode_out(&mut one);
        let Some(raw) = bytes.get(start..decoder.position()) else { break };
        out.push(Instruction {
            address: one.ip(),
            length: u8::try_from(raw.len()).unwrap_or(u8::MAX),
            flow: flow(&one),
            emulated: emulated_x86(raw),
        });
    }
    out
}

fn flow(i: &iced_x86::Instruction) -> Flow {
    let relative = jumps_relative(i);
    let slot = i.is_ip_rel_memory_operand();
    match i.mnemonic() {
        Mnemonic::Call if relative => Flow::Call(i.near_branch_target()),
        Mnemonic::Jmp if relative => Flow::Jump(i.near_branch_target()),
        _ if relative => Flow::Branch(i.near_branch_target()),
        Mnemonic::Call if slot => Flow::CallSlot(i.ip_rel_memory_address()),
        Mnemonic::Jmp if slot => Flow::JumpSlot(i.ip_rel_memory_address()),
        Mnemonic::Call | Mnemonic::Syscall => Flow::CallAny,
        Mnemonic::Jmp => Flow::JumpAny,
        Mnemonic::Ret | Mnemonic::Retf | Mnemonic::Iretq | Mnemonic::Sysret => Flow::Return,
        Mnemonic::INVALID
        | Mnemonic::Ud0
        | Mnemonic::Ud1
        | Mnemonic::Ud2
        | Mnemonic::Int3
        | Mnemonic::Int
        | Mnemonic::Hlt => Flow::Stop,
        _ => Flow::Next,
    }
}

/// Whether the only operand is a relative target: `call`, `jmp`, conditional jumps, `loop`.
fn jumps_relative(i: &iced_x86::Instruction) -> bool {
    matches!(i.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
}

fn single(bytes: &[u8], address: u64) -> iced_x86::Instruction {
    Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode()
}

fn mnemonic(bytes: &[u8], address: u64) -> String {
    format!("{:?}", single(bytes, address).mnemonic()).to_lowercase()
}

/// The constant of `cmp $constant, …`.
fn compared(bytes: &[u8], address: u64) -> Option<u64> {
    let i = single(bytes, address);
    let constant = matches!(i.op1_kind(), OpKind::Immediate8 | OpKind::Immediate8to32 | OpKind::Immediate32);
    (i.mnemonic() == Mnemonic::Cmp && constant).then(|| i.immediate(1))
}

/// Whether the second operand is a constant that is pointer-sized when used.
fn immediate(i: &iced_x86::Instruction) -> bool {
    i.op_count() == 2 && matches!(i.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64)
}

/// `call` or `jmp` through a register or a field.
fn through(bytes: &[u8], address: u64) -> Option<Through> {
    let i = single(bytes, address);
    if !matches!(i.mnemonic(), Mnemonic::Call | Mnemonic::Jmp) {
        return None;
    }
    match i.op0_kind() {
        OpKind::Register => number(i.op0_register()).map(Through::Register),
        OpKind::Memory => memory(&i).map(|(base, offset)| Through::Field(base, offset)),
        _ => None,
    }
}

fn is_no_op(bytes: &[u8], address: u64) -> bool {
    single(bytes, address).mnemonic() == Mnemonic::Nop
}

fn effect(bytes: &[u8], address: u64) -> Effect {
    let i = single(bytes, address);
    let first = if i.op_count() > 0 { i.op_kind(0) } else { OpKind::Immediate8 };
    let written = || match number(i.op_register(0)) {
        Some(to) => Effect::Write { to },
        // Vector and flag registers hold no pointers here.
        None => Effect::None,
    };
    match i.mnemonic() {
        Mnemonic::Endbr64 | Mnemonic::Nop | Mnemonic::Ret | Mnemonic::Vzeroupper => Effect::None,
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Comiss | Mnemonic::Vcomiss => match memory(&i) {
            Some((base, offset)) => Effect::Look { base, offset },
            None => Effect::None,
        },
        Mnemonic::Push => Effect::Write { to: STACK },
        Mnemonic::Pop if first == OpKind::Register => match number(i.op_register(0)) {
            // The stack pointer is written, too.
            Some(to) => Effect::LoadPair { to: [to, STACK], base: STACK, offset: 0 },
            None => Effect::Unknown,
        },
        // Pointers are 64 bits wide: a 32-bit sum is not one.
        Mnemonic::Add | Mnemonic::Sub if is_64_bit(i.op_register(0)) && immediate(&i) => {
            let (Some(to), by) = (number(i.op_register(0)), i.immediate(1).cast_signed()) else {
                return Effect::Unknown;
            };
            let add = if i.mnemonic() == Mnemonic::Sub { by.wrapping_neg() } else { by };
            Effect::Add { to, from: to, add }
        }
        _ if jumps_relative(&i) || i.mnemonic() == Mnemonic::Jmp => Effect::None,
        Mnemonic::Lea => match (number(i.op_register(0)), memory(&i)) {
            (Some(to), _) if i.is_ip_rel_memory_operand() => {
                Effect::Constant { to, value: i.ip_rel_memory_address() }
            }
            (Some(to), Some((from, add))) => Effect::Add { to, from, add },
            _ => written(),
        },
        Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsxd | Mnemonic::Movsx if first == OpKind::Register => {
            let Some(to) = number(i.op_register(0)) else { return Effect::Unknown };
            match (i.op_kind(1), memory(&i)) {
                (OpKind::Memory, Some((base, offset))) => Effect::Load { to, base, offset },
                (OpKind::Register, _) if is_64_bit(i.op_register(1)) => match number(i.op_register(1)) {
                    Some(from) => Effect::Copy { to, from },
                    None => Effect::Write { to },
                },
                (OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64, _) => {
                    Effect::Constant { to, value: i.immediate(1) }
                }
                _ => Effect::Write { to },
            }
        }
        Mnemonic::Sub
        | Mnemonic::Add
        | Mnemonic::Xor
        | Mnemonic::And
        | Mnemonic::Or
        | Mnemonic::Imul
        | Mnemonic::Shl
        | Mnemonic::Sar
        | Mnemonic::Shr
        | Mnemonic::Cmovne
        | Mnemonic::Cmove
        | Mnemonic::Sete
        | Mnemonic::Setne
            if first == OpKind::Register =>
        {
            match (memory(&i), number(i.op_register(0))) {
                (Some((base, offset)), Some(to)) => Effect::Combine { to, base, offset },
                _ if i.mnemonic() == Mnemonic::Xor && i.op_register(0) == i.op_register(1) => {
                    number(i.op_register(0)).map_or(Effect::None, |to| Effect::Constant { to, value: 0 })
                }
                _ => written(),
            }
        }
        _ if i.code() == Code::INVALID => Effect::Unknown,
        // Stores, and read-modify-write of memory.
        _ if first == OpKind::Memory && stores(&i) => match memory(&i) {
            Some((base, offset)) => Effect::Store { base, offset, from: number(i.op_register(1)) },
            None => Effect::None,
        },
        // Loads into vector registers.
        _ if first == OpKind::Register
            && i.op_register(0) >= Name::XMM0
            && i.op_register(0) <= Name::ZMM31 =>
        {
            match memory(&i) {
                Some((base, offset)) => Effect::Look { base, offset },
                None => Effect::None,
            }
        }
        _ => Effect::Unknown,
    }
}

/// Instructions that write only their first operand, in memory.
fn stores(i: &iced_x86::Instruction) -> bool {
    matches!(
        i.mnemonic(),
        Mnemonic::Mov
            | Mnemonic::Add
            | Mnemonic::Sub
            | Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Xor
            | Mnemonic::Inc
            | Mnemonic::Movss
            | Mnemonic::Movsd
            | Mnemonic::Movaps
            | Mnemonic::Movups
            | Mnemonic::Movdqa
            | Mnemonic::Movdqu
            | Mnemonic::Movq
            | Mnemonic::Movd
            | Mnemonic::Movlps
            | Mnemonic::Movhps
            | Mnemonic::Vmovss
            | Mnemonic::Vmovsd
            | Mnemonic::Vmovaps
            | Mnemonic::Vmovups
            | Mnemonic::Vmovdqa
            | Mnemonic::Vmovdqu
            | Mnemonic::Vmovq
            | Mnemonic::Vmovd
    )
}

/// Memory operand with a base register and a constant.
fn memory(i: &iced_x86::Instruction) -> Option<(Register, i64)> {
    let operand = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    if !operand || i.memory_index() != Name::None || i.segment_prefix() != Name::None {
        return None;
    }
    Some((number(i.memory_base())?, i.memory_displacement64().cast_signed()))
}

const fn is_64_bit(register: Name) -> bool {
    register as u32 >= Name::RAX as u32 && register as u32 <= Name::R15 as u32
}

/// Number of a 64- or 32-bit general register; for a narrower one, of the register that contains
/// it.
fn number(register: Name) -> Option<Register> {
    let name = register as u32;
    let among =
        |first: Name, last: Name| (name >= first as u32 && name <= last as u32).then(|| name - first as u32);
    // The 8-bit ones are al cl dl bl ah ch dh bh spl bpl sil dil r8l…: 4 more than there are
    // registers.
    let low = || {
        let n = among(Name::AL, Name::R15L)?;
        Some(if n < 4 { n } else { n - 4 })
    };
    let wide = among(Name::RAX, Name::R15).or_else(|| among(Name::EAX, Name::R15D));
    let number = wide.or_else(|| among(Name::AX, Name::R15W)).or_else(low)?;
    u8::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::{decode, effect, mnemonic};
    use crate::code::instruction::{Effect, Flow, Through};

    const RAX: u8 = 0;
    const RDI: u8 = 7;

    #[test]
    fn where_control_goes() {
        let cases: [(&[u8], Flow); 12] = [
            (&[0xe8, 0x10, 0, 0, 0], Flow::Call(0x1015)),
            (&[0xe9, 0xfb, 0xff, 0xff, 0xff], Flow::Jump(0x1000)),
            (&[0x3e, 0xeb, 0x02], Flow::Jump(0x1005)),
            (&[0x0f, 0x85, 0, 1, 0, 0], Flow::Branch(0x1106)),
            (&[0xe3, 0x02], Flow::Branch(0x1004)), // jrcxz
            (&[0xff, 0x15, 0x10, 0, 0, 0], Flow::CallSlot(0x1016)),
            (&[0xff, 0x25, 0x10, 0, 0, 0], Flow::JumpSlot(0x1016)),
            (&[0xff, 0xd0], Flow::CallAny),
            (&[0x3e, 0xff, 0xe0], Flow::JumpAny), // notrack jmp *%rax
            (&[0xc3], Flow::Return),
            (&[0x0f, 0x0b], Flow::Stop),
            (&[0x48, 0x89, 0xc7], Flow::Next),
        ];
        for (bytes, flow) in cases {
            let code = decode(bytes, 0x1000);
            assert_eq!((code.len(), code[0].flow), (1, flow), "{bytes:02x?}");
            assert_eq!(usize::from(code[0].length), bytes.len());
        }
    }

    #[test]
    fn what_calls_go_through() {
        let cases: [(&[u8], Option<Through>); 5] = [
            (&[0xff, 0xd0], Some(Through::Register(RAX))),      // call *%rax
            (&[0x41, 0xff, 0xe2], Some(Through::Register(10))), // jmp *%r10
            (&[0xff, 0x57, 0x68], Some(Through::Field(RDI, 104))), // call *104(%rdi)
            (&[0xff, 0x14, 0xc8], None),                        // call *(%rax,%rcx,8)
            (&[0xe8, 0x10, 0, 0, 0], None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(super::through(bytes, 0x1000), expected, "{bytes:02x?}");
        }
    }

    #[test]
    fn what_is_compared() {
        let cases: [(&[u8], Option<u64>); 4] = [
            (&[0x83, 0x7e, 0x50, 0x4c], Some(76)), // cmpl $76,80(%rsi)
            (&[0x83, 0xf8, 0x48], Some(72)),       // cmp $72,%eax
            (&[0x3d, 0x91, 0, 0, 0], Some(145)),   // cmp $145,%eax
            (&[0x39, 0xd8], None),                 // cmp %ebx,%eax
        ];
        for (bytes, expected) in cases {
            assert_eq!(super::compared(bytes, 0x1000), expected, "{bytes:02x?}");
        }
    }

    #[test]
    fn what_registers_become() {
        let cases: [(&[u8], Effect); 20] = [
            (&[0x48, 0x89, 0xf8], Effect::Copy { to: RAX, from: RDI }),
            (&[0x89, 0xf8], Effect::Write { to: RAX }), // only the lower half
            (&[0x48, 0x8d, 0x87, 0, 1, 0, 0], Effect::Add { to: RAX, from: RDI, add: 256 }),
            (&[0x48, 0x8d, 0x04, 0xf7], Effect::Write { to: RAX }), // with an index
            (&[0x48, 0x8d, 0x05, 9, 0, 0, 0], Effect::Constant { to: RAX, value: 0x1010 }),
            (&[0xb8, 0x70, 1, 0, 0], Effect::Constant { to: RAX, value: 368 }),
            (&[0x31, 0xc0], Effect::Constant { to: RAX, value: 0 }),
            (&[0x48, 0x8b, 0x87, 0xf8, 0, 0, 0], Effect::Load { to: RAX, base: RDI, offset: 248 }),
            (&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0], Effect::Write { to: RAX }), // %fs:0x28
            (&[0x48, 0x0f, 0xaf, 0x47, 0x10], Effect::Combine { to: RAX, base: RDI, offset: 16 }), // imul
            (&[0x83, 0x7f, 0x50, 0x5b], Effect::Look { base: RDI, offset: 80 }),         // cmpl $91,80(%rdi)
            (&[0x48, 0x89, 0x47, 0x58], Effect::Store { base: RDI, offset: 88, from: Some(RAX) }),
            (&[0x83, 0x8f, 0x94, 0, 0, 0, 1], Effect::Store { base: RDI, offset: 148, from: None }), // orl $1
            (&[0x0f, 0x10, 0x47, 0x10], Effect::Look { base: RDI, offset: 16 }),                     // movups
            (&[0x53], Effect::Write { to: 4 }),
            (&[0x5b], Effect::LoadPair { to: [3, 4], base: 4, offset: 0 }), // pop %rbx
            (&[0x48, 0x83, 0xc7, 0x20], Effect::Add { to: RDI, from: RDI, add: 32 }),
            (&[0x48, 0x83, 0xec, 0x18], Effect::Add { to: 4, from: 4, add: -24 }), // sub $24,%rsp
            (&[0x83, 0xc7, 0x20], Effect::Write { to: RDI }),                      // only the lower half
            (&[0x48, 0xf7, 0xf1], Effect::Unknown),                                // div
        ];
        for (bytes, expected) in cases {
            assert_eq!(effect(bytes, 0x1000), expected, "{} {bytes:02x?}", mnemonic(bytes, 0x1000));
        }
    }
}
