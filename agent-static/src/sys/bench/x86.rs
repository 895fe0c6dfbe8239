//! The loops for x86-64.
//!
//! Arguments arrive in rdi, rsi, rdx. The callee may change all vector registers. The names are
//! global because the tables below may be in another object file of the crate. The `.irp` lists
//! unroll the body of a loop.

use std::arch::is_x86_feature_detected as has;

use super::{Accumulators, Arithmetic, Block, Copier, Factors, Form, Numbers, Reader};

/// A loop that sums into `$n` accumulators, and returns the sum of their lanes in rax.
macro_rules! reading {
    ($name:literal, $register:literal, $zero:literal, $add:literal, $width:literal, $fold:literal) => {
        std::arch::global_asm!(
            ".text",
            ".balign 64",
            concat!(".globl ", $name, "\n.hidden ", $name, "\n", $name, ":"),
            ".irp n,0,1,2,3,4,5,6,7",
            concat!($zero, " ", $register, "\\n, ", $register, "\\n, ", $register, "\\n"),
            ".endr",
            "2:",
            concat!(".irp n,0,1,2,3,4,5,6,7"),
            concat!($add, " ", $register, "\\n, ", $register, "\\n, [rdi + \\n*", $width, "]"),
            ".endr",
            // Narrower registers need two steps per block.
            concat!(".if ", $width, " < 64"),
            concat!(".irp n,0,1,2,3,4,5,6,7"),
            concat!($add, " ", $register, "\\n, ", $register, "\\n, [rdi + 256 + \\n*", $width, "]"),
            ".endr",
            ".endif",
            "add rdi, 512",
            "dec rsi",
            "jnz 2b",
            ".irp n,1,2,3,4,5,6,7",
            concat!($add, " ", $register, "0, ", $register, "0, ", $register, "\\n"),
            ".endr",
            $fold,
            "vextracti128 xmm1, ymm0, 1",
            "vpaddq xmm0, xmm0, xmm1",
            "vpextrq rax, xmm0, 1",
            "vmovq rcx, xmm0",
            "add rax, rcx",
            "vzeroupper",
            "ret",
        );
    };
}

reading!(
    "profinfer_read_avx512",
    "zmm",
    "vpxorq",
    "vpaddq",
    "64",
    "vextracti64x4 ymm1, zmm0, 1\n vpaddq ymm0, ymm0, ymm1"
);
reading!("profinfer_read_avx2", "ymm", "vpxor", "vpaddq", "32", "");

std::arch::global_asm!(
    ".text",
    ".balign 64",
    ".globl profinfer_read_sse2",
    ".hidden profinfer_read_sse2",
    "profinfer_read_sse2:",
    ".irp n,0,1,2,3,4,5,6,7",
    "pxor xmm\\n, xmm\\n",
    ".endr",
    // Four steps per block.
    "shl rsi, 2",
    "2:",
    ".irp n,0,1,2,3,4,5,6,7",
    "paddq xmm\\n, [rdi + \\n*16]",
    ".endr",
    "add rdi, 128",
    "dec rsi",
    "jnz 2b",
    ".irp n,1,2,3,4,5,6,7",
    "paddq xmm0, xmm\\n",
    ".endr",
    "movq rax, xmm0",
    "psrldq xmm0, 8",
    "movq rcx, xmm0",
    "add rax, rcx",
    "ret",
);

std::arch::global_asm!(
    ".text",
    ".balign 64",
    // Non-temporal stores: the cache lines of the target are not read first.
    ".globl profinfer_copy_streaming",
    ".hidden profinfer_copy_streaming",
    "profinfer_copy_streaming:",
    "2:",
    ".irp o,0,128,256,384",
    ".irp n,0,1,2,3,4,5,6,7",
    "movaps xmm\\n, [rsi + \\o + \\n*16]",
    ".endr",
    ".irp n,0,1,2,3,4,5,6,7",
    "movntps [rdi + \\o + \\n*16], xmm\\n",
    ".endr",
    ".endr",
    "add rsi, 512",
    "add rdi, 512",
    "dec rdx",
    "jnz 2b",
    "sfence",
    "ret",
    ".balign 64",
    ".globl profinfer_copy_string",
    ".hidden profinfer_copy_string",
    "profinfer_copy_string:",
    "mov rcx, rdx",
    "shl rcx, 9",
    "rep movsb",
    "ret",
);

/// An arithmetic loop: factors in registers 0 and 1, accumulators in the registers of `$list`.
macro_rules! arithmetic {
    ($name:literal, $load:expr, $list:literal, $zero:literal, [$($round:expr),*], $store:literal, $width:literal) => {
        std::arch::global_asm!(
            ".text",
            ".balign 64",
            concat!(".globl ", $name, "\n.hidden ", $name, "\n", $name, ":"),
            $load,
            concat!(".irp n,", $list),
            $zero,
            ".endr",
            "2:",
            concat!(".irp n,", $list),
            $($round,)*
            ".endr",
            "dec rdi",
            "jnz 2b",
            concat!(".irp n,", $list),
            $store,
            concat!("add rdx, ", $width),
            ".endr",
            "vzeroupper",
            "ret",
        );
    };
}

/// The upper half of the AVX-512 registers.
macro_rules! arithmetic_512 {
    ($name:literal, [$($round:expr),*]) => {
        arithmetic!(
            $name,
            "vmovdqu64 zmm0, [rsi]\n vmovdqu64 zmm1, [rsi + 64]",
            "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "vpxorq zmm\\n, zmm\\n, zmm\\n",
            [$($round),*],
            "vmovdqu64 [rdx], zmm\\n",
            "64"
        );
    };
}

/// Twelve accumulators. Registers 0 to 3 are for factors and products.
macro_rules! arithmetic_256 {
    ($name:literal, $load:expr, [$($round:expr),*]) => {
        arithmetic!(
            $name,
            concat!("vmovdqu ymm0, [rsi]\n vmovdqu ymm1, [rsi + 64]\n", $load),
            "4,5,6,7,8,9,10,11,12,13,14,15",
            "vpxor ymm\\n, ymm\\n, ymm\\n",
            [$($round),*],
            "vmovdqu [rdx], ymm\\n",
            "32"
        );
    };
}

arithmetic_512!("profinfer_int8_avx512_vnni", ["vpdpbusd zmm\\n, zmm0, zmm1"]);
arithmetic_512!("profinfer_f32_avx512", ["vfmadd231ps zmm\\n, zmm0, zmm1"]);
arithmetic_512!("profinfer_f16_avx512_fp16", ["vfmadd231ph zmm\\n, zmm0, zmm1"]);
// Both factors are converted for each product, as engines with 16-bit weights do.
arithmetic_512!(
    "profinfer_f16_avx512_f16c",
    ["vcvtph2ps zmm2, [rsi]", "vcvtph2ps zmm3, [rsi + 64]", "vfmadd231ps zmm\\n, zmm2, zmm3"]
);
arithmetic_256!("profinfer_int8_avx_vnni", "", ["{{vex}} vpdpbusd ymm\\n, ymm0, ymm1"]);
// Register 3 holds sixteen times the value 1.
arithmetic_256!(
    "profinfer_int8_avx2",
    "vpcmpeqw ymm3, ymm3, ymm3\n vpsrlw ymm3, ymm3, 15",
    ["vpmaddubsw ymm2, ymm0, ymm1", "vpmaddwd ymm2, ymm2, ymm3", "vpaddd ymm\\n, ymm\\n, ymm2"]
);
arithmetic_256!("profinfer_f32_fma", "", ["vfmadd231ps ymm\\n, ymm0, ymm1"]);
arithmetic_256!(
    "profinfer_f16_f16c",
    "",
    ["vcvtph2ps ymm2, [rsi]", "vcvtph2ps ymm3, [rsi + 64]", "vfmadd231ps ymm\\n, ymm2, ymm3"]
);

unsafe extern "C" {
    fn profinfer_read_avx512(from: *const Block, blocks: u64) -> u64;
    fn profinfer_read_avx2(from: *const Block, blocks: u64) -> u64;
    fn profinfer_read_sse2(from: *const Block, blocks: u64) -> u64;
    fn profinfer_copy_streaming(to: *mut Block, from: *const Block, blocks: u64);
    fn profinfer_copy_string(to: *mut Block, from: *const Block, blocks: u64);
    fn profinfer_int8_avx512_vnni(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_int8_avx_vnni(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_int8_avx2(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f32_avx512(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f32_fma(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f16_avx512_fp16(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f16_avx512_f16c(rounds: u64, factors: *const Factors, to: *mut Accumulators);
    fn profinfer_f16_f16c(rounds: u64, factors: *const Factors, to: *mut Accumulators);
}

pub(super) fn reader() -> Reader {
    if has!("avx512f") {
        Reader { how: "AVX512F", run: profinfer_read_avx512 }
    } else if has!("avx2") {
        Reader { how: "AVX2", run: profinfer_read_avx2 }
    } else {
        Reader { how: "SSE2", run: profinfer_read_sse2 }
    }
}

pub(super) const COPIERS: &[Copier] = &[
    Copier { how: "movntps", run: profinfer_copy_streaming },
    Copier { how: "rep movsb", run: profinfer_copy_string },
];

/// The condition that the CPU has the instructions of a loop, and the loop.
type Row = (fn() -> bool, Arithmetic);

/// A loop with sixteen accumulators of 64 bytes, or twelve of 32.
const fn row(
    numbers: Numbers,
    how: &'static str,
    form: Form,
    width: usize,
    ops: u64,
    run: unsafe extern "C" fn(u64, *const Factors, *mut Accumulators),
) -> Arithmetic {
    let accumulators = if width == 64 { 16 } else { 12 };
    Arithmetic { numbers, how, form, width, accumulators, ops, run }
}

pub(super) const ARITHMETIC: &[Row] = &[
    (
        || has!("avx512vnni") && has!("avx512f"),
        row(Numbers::Int8, "AVX512-VNNI", Form::Dot, 64, 128, profinfer_int8_avx512_vnni),
    ),
    (
        || has!("avxvnni") && has!("avx2"),
        row(Numbers::Int8, "AVX-VNNI", Form::Dot, 32, 64, profinfer_int8_avx_vnni),
    ),
    (|| has!("avx2"), row(Numbers::Int8, "AVX2", Form::Dot, 32, 64, profinfer_int8_avx2)),
    (|| has!("avx512f"), row(Numbers::F32, "AVX512F", Form::Lanes, 64, 32, profinfer_f32_avx512)),
    (|| has!("fma") && has!("avx2"), row(Numbers::F32, "FMA", Form::Lanes, 32, 16, profinfer_f32_fma)),
    (
        || has!("avx512fp16") && has!("avx512f"),
        row(Numbers::F16, "AVX512-FP16", Form::HalfLanes, 64, 64, profinfer_f16_avx512_fp16),
    ),
    (
        || has!("avx512f"),
        row(Numbers::F16, "AVX512F, converted", Form::Lanes, 64, 32, profinfer_f16_avx512_f16c),
    ),
    (
        || has!("f16c") && has!("fma") && has!("avx2"),
        row(Numbers::F16, "F16C, FMA", Form::Lanes, 32, 16, profinfer_f16_f16c),
    ),
];
