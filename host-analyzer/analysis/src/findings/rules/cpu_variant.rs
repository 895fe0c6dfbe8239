//! The engine runs code for older processors.

use super::super::case::{MIN_CALLS, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::results::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "cpu_variant",
    topic: "CPU build",
    title: "The engine runs code for an older processor",
    question: "Why is it several times slower than another program with the same model?",
    condition: "The loaded CPU backend is a variant that uses none of the dot-product or vector instructions that this processor has and a newer variant would use.",
    formula: "A product runs at most as much faster as the better variant does more multiplications in an instruction. Variants before AVX2 compute some types of weights in plain C, so that the instructions bound nothing there. The read ceiling, where it was measured, bounds all. How much of the time is waiting for memory is not recorded: at least nothing.",
    remedy: "Put the variant for this processor next to the program (all variants: GGML_CPU_ALL_VARIANTS), or build it for this processor (GGML_NATIVE, GGML_CPU_ARM_ARCH=armv8.2-a+dotprod).",
    source: "llama-cpp-rs #1067, llama.cpp #11403, #13356; ggml/src/CMakeLists.txt lists the variants and their instructions; ggml/src/ggml-cpu/arch/x86/quants.c",
    questions: ANY,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Fact("cpu.features"),
    ],
    steps: |_, kind| matches!(kind, StepKind::Floor | StepKind::AboveFloor),
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let engine = case.analysis.engine.iter().rev().find(|e| e.pid == case.pid);
    let Some(loaded) = engine.and_then(|e| e.cpu_variant.as_deref()) else { return Verdict::DoesNotApply };
    let Some(features) = case.analysis.conditions.system.cpu_features.value() else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("cpu.features")]);
    };
    let has = |wanted: &str| features.iter().any(|f| f == wanted);
    let best = LEVELS.iter().rev().find(|level| level.needs.iter().all(|f| has(f)));
    let now = LEVELS.iter().rev().find(|level| level.variants.contains(&loaded));
    let (Some(best), Some(now)) = (best, now) else { return Verdict::DoesNotApply };
    let evidence = vec![
        Evidence::new("loaded_variant", Value::Name(loaded.to_owned()), Place::Weights),
        Evidence::new("products_per_instruction", Value::Count(now.products), Place::Conditions),
        Evidence::new("products_possible", Value::Count(best.products), Place::Conditions),
        Evidence::new("instructions", Value::Name(best.needs.join(" ")), Place::Conditions),
    ];
    if best.products <= now.products {
        return Verdict::RuledOut(evidence);
    }
    let work = case.wall(&[Class::Work]);
    let faster = if now.every_type { 1.0 - now.products as f64 / best.products as f64 } else { 1.0 };
    let most = match case.analysis.roof.decode.filter(|_| case.generates()).and_then(|d| d.mbu) {
        Some(mbu) => faster.min(1.0 - mbu.min(1.0)),
        None => faster,
    };
    let gain = case.gain(0.0, work.high() * most);
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::BetterVariant,
        gains: vec![gain],
        confidence: Confidence::High,
    })
}

/// Variants of GGML's CPU backend that multiply alike.
struct Level {
    variants: &'static [&'static str],
    /// Features of the processor, as the kernel calls them.
    needs: &'static [&'static str],
    /// Products of 8-bit integers that an instruction does.
    products: u64,
    /// It has vector code for every type of weights; others compute some of them in plain C.
    every_type: bool,
}

/// From the least to the best; the variants as in ggml/src/CMakeLists.txt.
const LEVELS: &[Level] = &[
    Level { variants: &["x64"], needs: &[], products: 2, every_type: false },
    Level {
        variants: &["sse42", "sandybridge", "ivybridge", "piledriver"],
        needs: &["sse4_2"],
        products: 16,
        every_type: false,
    },
    Level {
        variants: &["haswell", "alderlake"],
        needs: &["avx2", "fma", "f16c"],
        products: 32,
        every_type: true,
    },
    Level {
        variants: &["skylakex", "cannonlake"],
        needs: &["avx2", "fma", "f16c"],
        products: 32,
        every_type: true,
    },
    // Multiplied and added up in one instruction, where those before need three.
    Level {
        variants: &["cascadelake", "cooperlake", "icelake", "zen4", "sapphirerapids"],
        needs: &["avx512_vnni"],
        products: 64,
        every_type: true,
    },
    Level { variants: &["armv8.0_1"], needs: &["asimd"], products: 8, every_type: true },
    Level {
        variants: &[
            "armv8.2_1",
            "armv8.2_2",
            "armv8.2_3",
            "armv8.6_1",
            "armv8.6_2",
            "armv9.2_1",
            "armv9.2_2",
        ],
        needs: &["asimd", "asimddp"],
        products: 16,
        every_type: true,
    },
];
