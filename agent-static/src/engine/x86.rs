//! x86-64 instructions as [`code`](super::code) wants them, decoded by `iced-x86`.

use iced_x86::{Code, Decoder, DecoderOptions, Mnemonic, OpKind, Register as Name};

use super::cheap;
use super::code::{Effect, Flow, Instruction, Register};

const STACK: Register = 4;

pub(crate) fn decode(bytes: &[u8], address: u64) -> Vec<Instruction> {
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
            emulated: cheap::emulated_x86(raw),
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

pub(crate) fn mnemonic(bytes: &[u8], address: u64) -> String {
    format!("{:?}", single(bytes, address).mnemonic()).to_lowercase()
}

pub(crate) fn is_no_op(bytes: &[u8], address: u64) -> bool {
    single(bytes, address).mnemonic() == Mnemonic::Nop
}

pub(crate) fn effect(bytes: &[u8], address: u64) -> Effect {
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

/// Instructions whose first operand, in memory, is all that they write.
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

/// Number of a 64- or 32-bit general register; of the narrower ones, of the register they are part of.
fn number(register: Name) -> Option<Register> {
    let name = register as u32;
    let among =
        |first: Name, last: Name| (name >= first as u32 && name <= last as u32).then(|| name - first as u32);
    // The 8-bit ones are al cl dl bl ah ch dh bh spl bpl sil dil r8l…: 4 more than there are registers.
    let low = || {
        let n = among(Name::AL, Name::R15L)?;
        Some(if n < 4 { n } else { n - 4 })
    };
    let wide = among(Name::RAX, Name::R15).or_else(|| among(Name::EAX, Name::R15D));
    let number = wide.or_else(|| among(Name::AX, Name::R15W)).or_else(low)?;
    u8::try_from(number).ok()
}
