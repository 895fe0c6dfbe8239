//! The loops for aarch64.
//!
//! Arguments arrive in x0, x1, x2. Registers v8 to v15 belong to the caller, so they are not used.
//! The names are global because the table below may be in another object file of the crate.

use std::arch::is_aarch64_feature_detected as has;

use super::{Accumulators, Arithmetic, Block, Copier, Factors, Form, Numbers, Reader};

std::arch::global_asm!(
    ".text",
    ".balign 64",
    ".globl profinfer_read_ldp",
    ".hidden profinfer_read_ldp",
    "profinfer_read_ldp:",
    ".irp n,16,17,18,19,20,21,22,23",
    "movi v\\n\\().2d, #0",
    ".endr",
    // Four steps per block.
    "lsl x1, x1, #2",
    "2:",
    "ldp q0, q1, [x0]",
    "ldp q2, q3, [x0, #32]",
    "ldp q4, q5, [x0, #64]",
    "ldp q6, q7, [x0, #96]",
    "add v16.2d, v16.2d, v0.2d",
    "add v17.2d, v17.2d, v1.2d",
    "add v18.2d, v18.2d, v2.2d",
    "add v19.2d, v19.2d, v3.2d",
    "add v20.2d, v20.2d, v4.2d",
    "add v21.2d, v21.2d, v5.2d",
    "add v22.2d, v22.2d, v6.2d",
    "add v23.2d, v23.2d, v7.2d",
    "add x0, x0, #128",
    "subs x1, x1, #1",
    "b.ne 2b",
    ".irp n,17,18,19,20,21,22,23",
    "add v16.2d, v16.2d, v\\n\\().2d",
    ".endr",
    "addp d0, v16.2d",
    "fmov x0, d0",
    "ret",
);

/// A copy loop with this store instruction.
macro_rules! copying {
    ($name:literal, $store:literal) => {
        std::arch::global_asm!(
            ".text",
            ".balign 64",
            concat!(".globl ", $name, "\n.hidden ", $name, "\n", $name, ":"),
            "lsl x2, x2, #2",
            "2:",
            "ldp q0, q1, [x1]",
            "ldp q2, q3, [x1, #32]",
            "ldp q4, q5, [x1, #64]",
            "ldp q6, q7, [x1, #96]",
            concat!($store, " q0, q1, [x0]"),
            concat!($store, " q2, q3, [x0, #32]"),
            concat!($store, " q4, q5, [x0, #64]"),
            concat!($store, " q6, q7, [x0, #96]"),
            "add x1, x1, #128",
            "add x0, x0, #128",
            "subs x2, x2, #1",
            "b.ne 2b",
            "ret",
        );
    };
}

copying!("profinfer_copy_stp", "stp");
// A hint that the target is not needed soon.
copying!("profinfer_copy_stnp", "stnp");

/// An arithmetic loop: factors in v0 and v1, sixteen accumulators in v16 to v31.
macro_rules! arithmetic {
    ($name:literal, $extension:literal, [$($round:literal),*]) => {
        std::arch::global_asm!(
            ".text",
            $extension,
            ".balign 64",
            concat!(".globl ", $name, "\n.hidden ", $name, "\n", $name, ":"),
            "ldr q0, [x1]",
            "ldr q1, [x1, #64]",
            ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "movi v\\n\\().2d, #0",
            ".endr",
            "2:",
            ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            $($round,)*
            ".endr",
            "subs x0, x0, #1",
            "b.ne 2b",
            ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "str q\\n, [x2], #16",
            ".endr",
            "ret",
        );
    };
}

arithmetic!("profinfer_int8_smmla", ".arch_extension i8mm", ["smmla v\\n\\().4s, v0.16b, v1.16b"]);
arithmetic!("profinfer_int8_sdot", ".arch_extension dotprod", ["sdot v\\n\\().4s, v0.16b, v1.16b"]);
arithmetic!(
    "profinfer_int8_smull",
    "",
    [
        "smull v2.8h, v0.8b, v1.8b",
        "smull2 v3.8h, v0.16b, v1.16b",
        "sadalp v\\n\\().4s, v2.8h",
        "sadalp v\\n\\().4s, v3.8h"
    ]
);
arithmetic!("profinfer_f32_fmla", "", ["fmla v\\n\\().4s, v0.4s, v1.4s"]);
arithmetic!("profinfer_f16_fmla", ".arch_extension fp16", ["fmla v\\n\\().8h, v0.8h, v1.8h"]);
// Both factors are converted for each product, as engines do on cores without 16-bit arithmetic.
arithmetic!(
    "profinfer_f16_fcvtl",
    "",
    ["fcvtl v2.4s, v0.4h", "fcvtl v3.4s, v1.4h", "fmla v\\n\\().4s, v2.4s, v3.4s"]
);

unsafe extern "C" {
    fn profinfer_read_ldp(from: *const Block, blocks: u64) -> u64;
    fn profinfer_copy_stp(to: *mut Block, from: *const Block, blocks: u64);
    fn profinfer_copy_stnp(to: *mut Block, from: *const Block, blocks: u64);
    fn profinfer_int8_smmla(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_int8_sdot(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_int8_smull(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f32_fmla(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f16_fmla(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f16_fcvtl(rounds: u64, factors: *const Factors, to: *mut Accumulators);
}

pub(super) fn reader() -> Reader {
    Reader { how: "ldp q", run: profinfer_read_ldp }
}

pub(super) const COPIERS: &[Copier] = &[
    Copier { how: "ldp q, stp q", run: profinfer_copy_stp },
    Copier { how: "ldp q, stnp q", run: profinfer_copy_stnp },
];

/// The condition that the CPU has the instructions of a loop, and the loop.
type Row = (fn() -> bool, Arithmetic);

/// A loop with sixteen accumulators of 16 bytes, as all loops here have.
const fn row(
    numbers: Numbers,
    how: &'static str,
    form: Form,
    ops: u64,
    run: unsafe extern "C" fn(u64, *const Factors, *mut Accumulators),
) -> Arithmetic {
    Arithmetic { numbers, how, form, width: 16, accumulators: 16, ops, run }
}

pub(super) const ARITHMETIC: &[Row] = &[
    (|| has!("i8mm"), row(Numbers::Int8, "smmla", Form::Matrix, 64, profinfer_int8_smmla)),
    (|| has!("dotprod"), row(Numbers::Int8, "sdot", Form::Dot, 32, profinfer_int8_sdot)),
    // No engine uses it on cores with sdot.
    (|| !has!("dotprod"), row(Numbers::Int8, "smull, sadalp", Form::Pairs, 32, profinfer_int8_smull)),
    (|| true, row(Numbers::F32, "fmla 4s", Form::Lanes, 8, profinfer_f32_fmla)),
    (|| has!("fp16"), row(Numbers::F16, "fmla 8h", Form::HalfLanes, 16, profinfer_f16_fmla)),
    (|| true, row(Numbers::F16, "fcvtl, fmla 4s", Form::Lanes, 8, profinfer_f16_fcvtl)),
];
