//! Synthetic files with one fact each, on both instruction sets.

use profinfer_engine::{
    ElfError, EnginePlan, Image, ProbeKind, Role, describe, examine, is_engine_part, library_event_site,
    strategies,
};

use crate::asm::{Arch, Asm, BOTH};
use crate::elfgen::Elf;
use crate::program::{START, Shape, base, cpu, end};

pub(crate) fn plan(files: &mut [&mut Elf]) -> EnginePlan {
    let bytes: Vec<_> = files.iter_mut().map(|f| f.build()).collect();
    let images: Vec<_> = bytes.iter().map(|b| Image::parse("made", b).expect("a good file")).collect();
    examine(&images, &[])
}

pub(crate) fn offsets(plan: &EnginePlan, kind: ProbeKind) -> Vec<u64> {
    plan.sites.iter().filter(|s| s.kind == kind).map(|s| s.offset).collect()
}

pub(crate) fn reason(plan: &EnginePlan, kind: ProbeKind) -> String {
    let missing = plan.missing.iter().find(|m| m.kind == kind);
    describe::reason(missing.unwrap_or_else(|| panic!("{kind:?} should be missing: {:?}", plan.sites)))
}

/// The way to trace each level, or the reason why there is none, in words.
pub(crate) fn ways(plan: &EnginePlan) -> [Result<String, String>; 3] {
    strategies(plan).map(|strategy| describe::way(&strategy))
}

#[test]
fn a_dispatch_loop_has_a_start_and_an_end() {
    for arch in BOTH {
        for imported in [false, true] {
            for sections in [false, true] {
                let mut elf = cpu(arch, Shape { imported, ..Shape::default() });
                elf.sections = sections;
                let plan = plan(&mut [&mut elf]);
                assert_eq!(
                    offsets(&plan, ProbeKind::OpStart),
                    [elf.offset("start")],
                    "{arch:?} {imported} {sections}"
                );
                assert_eq!(offsets(&plan, ProbeKind::OpEnd), [end(&elf)]);
                assert_eq!(offsets(&plan, ProbeKind::OpFused), []);
                assert_eq!(plan.files[0].roles, [Role::CpuGraph, Role::CpuOperators]);
                assert_eq!(plan.files[0].build_id, [1, 2, 3, 4, 5, 6, 7, 8]);
            }
        }
    }
}

#[test]
fn a_vendor_prefix_does_not_matter() {
    for arch in BOTH {
        let mut elf = cpu(arch, Shape { prefix: "lm_", imported: true, ..Shape::default() });
        let plan = plan(&mut [&mut elf]);
        assert_eq!(offsets(&plan, ProbeKind::OpStart), [elf.offset("start")]);
        assert_eq!(
            plan.sites.iter().find(|s| s.kind == ProbeKind::CpuGraph).expect("found").symbol,
            "lm_ggml_graph_compute"
        );
    }
}

#[test]
fn a_fused_kernel_is_a_start_of_its_own() {
    for arch in BOTH {
        let bypass = Some("ggml_compute_forward_norm_mul_fused");
        let mut elf = cpu(arch, Shape { bypass, ..Shape::default() });
        let plan = plan(&mut [&mut elf]);
        assert_eq!(offsets(&plan, ProbeKind::OpFused), [elf.offset("fused")]);
        assert_eq!(offsets(&plan, ProbeKind::OpStart), [elf.offset("start")]);
        assert_eq!(offsets(&plan, ProbeKind::OpEnd), [end(&elf)]);
    }
}

#[test]
fn a_kernel_that_no_start_leads_to_is_named() {
    for arch in BOTH {
        let mut elf = cpu(arch, Shape { bypass: Some("ggml_compute_forward_shortcut"), ..Shape::default() });
        let plan = plan(&mut [&mut elf]);
        let missing = plan.missing.iter().find(|m| m.kind == ProbeKind::OpFused).expect("named");
        assert_eq!(missing.symbol, "ggml_compute_forward_shortcut");
        assert_eq!(offsets(&plan, ProbeKind::OpFused), []);
        assert_eq!(offsets(&plan, ProbeKind::OpStart), [elf.offset("start")]);
    }
}

#[test]
fn an_operator_that_skips_the_end_spoils_the_level() {
    for arch in BOTH {
        let mut elf = cpu(arch, Shape { leak: true, ..Shape::default() });
        let plan = plan(&mut [&mut elf]);
        assert!(reason(&plan, ProbeKind::OpEnd).contains("without passing the end"));
        assert_eq!(offsets(&plan, ProbeKind::OpStart), [], "a start without its end must not be probed");
    }
}

#[test]
fn an_operator_that_returns_spoils_the_level() {
    for arch in BOTH {
        let mut elf = cpu(arch, Shape { returns: true, ..Shape::default() });
        let plan = plan(&mut [&mut elf]);
        assert_eq!(offsets(&plan, ProbeKind::OpStart), []);
        assert!(
            reason(&plan, ProbeKind::OpEnd).contains("to a return at"),
            "{}",
            reason(&plan, ProbeKind::OpEnd)
        );
    }
}

#[test]
fn an_end_needs_two_witnesses() {
    for arch in BOTH {
        let mut few = cpu(arch, Shape { operators: 9, ..Shape::default() });
        assert!(reason(&plan(&mut [&mut few]), ProbeKind::OpEnd).contains("no common end"));
        let mut strange = cpu(arch, Shape { strange_result: true, ..Shape::default() });
        assert!(reason(&plan(&mut [&mut strange]), ProbeKind::OpEnd).contains("result leads to"));
    }
}

#[test]
fn bytes_that_look_like_a_call_are_none() {
    // mov $imm64, %rax with a call of the start in its immediate.
    let mut elf = Elf::new(Arch::X86);
    elf.function(START, Asm::ret);
    elf.function("ggml_graph_compute", |asm| {
        asm.bytes.extend([0x48, 0xb8]);
        asm.call(START);
        asm.bytes.extend([0; 3]);
        asm.ret();
    });
    assert!(reason(&plan(&mut [&mut elf]), ProbeKind::OpStart).contains("nothing in this file calls"));
}

#[test]
fn cases_may_meet_before_the_start_s_result_does() {
    for arch in BOTH {
        let mut elf = cpu(arch, Shape { puts_back: true, ..Shape::default() });
        let plan = plan(&mut [&mut elf]);
        assert_eq!(offsets(&plan, ProbeKind::OpStart), [elf.offset("start")], "{arch:?}");
        assert_eq!(offsets(&plan, ProbeKind::OpEnd), [end(&elf)], "{arch:?}");
    }
}

/// A base library whose scheduler hands over splits in this way, with a label `handover` at a call
/// through a pointer.
fn scheduler(arch: Arch, body: fn(&mut Asm)) -> Elf {
    let mut elf = base(arch, 256, 248);
    elf.function("ggml_backend_graph_compute_async", |asm| {
        asm.landing_pad();
        asm.jump_if_result("backend missing");
        asm.jump_through_field(104);
        asm.label("backend missing");
        asm.prologue();
        asm.call("ggml_get_name");
    });
    elf.function("", |asm| {
        asm.label("compute splits");
        asm.prologue();
        body(asm);
        asm.ret();
    });
    elf.function("ggml_backend_sched_graph_compute_async", |asm| {
        asm.prologue();
        asm.call("compute splits");
        asm.ret();
    });
    elf
}

#[test]
fn splits_are_seen_where_the_scheduler_hands_them_over() {
    for arch in BOTH {
        let mut called = scheduler(arch, |asm| asm.call("ggml_backend_graph_compute_async"));
        let plan_of = plan(&mut [&mut called]);
        assert_eq!(offsets(&plan_of, ProbeKind::BackendGraph).len(), 1, "{arch:?}");
        assert!(plan_of.missing.iter().all(|m| m.kind != ProbeKind::BackendGraph));

        let mut inlined = scheduler(arch, |asm| {
            asm.call_through_callee_saved("handover", 104, true);
            // Another function of a backend, and one that gets a pointer that was read: an event,
            // not a graph.
            asm.call_through_callee_saved("other", 112, true);
            asm.call_through_callee_saved("event", 104, false);
        });
        let plan_of = plan(&mut [&mut inlined]);
        assert_eq!(offsets(&plan_of, ProbeKind::BackendGraph), [inlined.offset("handover")], "{arch:?}");

        let mut neither = scheduler(arch, |asm| asm.call_through_callee_saved("other", 112, true));
        let plan_of = plan(&mut [&mut neither]);
        assert_eq!(offsets(&plan_of, ProbeKind::BackendGraph), [], "{arch:?}");
        assert!(reason(&plan_of, ProbeKind::BackendGraph).contains("offset 104"), "{arch:?}");
    }
}

/// A file with an operator function of this name, which may read the operator of its second
/// argument.
fn old_engine(arch: Arch, name: &str, called: bool, reads: bool) -> Elf {
    let mut elf = Elf::new(arch);
    elf.function(name, |asm| {
        asm.landing_pad();
        asm.label("function entry");
        asm.prologue();
        if reads {
            asm.read_second(80);
        }
        asm.ret();
    });
    elf.function("ggml_graph_compute", |asm| {
        asm.landing_pad();
        asm.prologue();
        if called {
            asm.call(name);
        }
        asm.ret();
    });
    elf
}

#[test]
fn an_operator_function_is_preferred_where_it_is_called_with_a_tensor() {
    for arch in BOTH {
        for name in
            ["ggml_compute_forward", "ggml_compute_forward.part.0", "ggml_compute_forward.constprop.0.isra.0"]
        {
            let mut elf = old_engine(arch, name, true, true);
            let plan = plan(&mut [&mut elf]);
            // On arm64 the kernel emulates no instruction there: the function's first one.
            let entry = if arch == Arch::X86 { "function entry" } else { name };
            assert_eq!(offsets(&plan, ProbeKind::OpFunction), [elf.offset(entry)], "{arch:?} {name}");
        }
        for (name, called, reads) in [
            ("ggml_compute_forward", false, true),
            ("ggml_compute_forward", true, false),
            ("ggml_compute_forward.cold", true, true),
            ("ggml_compute_forward_add", true, true),
        ] {
            let mut elf = old_engine(arch, name, called, reads);
            let plan = plan(&mut [&mut elf]);
            assert_eq!(offsets(&plan, ProbeKind::OpFunction), [], "{arch:?} {name} {called} {reads}");
            reason(&plan, ProbeKind::OpStart);
        }
    }
}

#[test]
fn the_entry_is_probed_where_nothing_has_changed_yet() {
    type Body = fn(&mut Asm);
    // (the function's code, label of the instruction to probe on x86-64 and on arm64)
    let cases: [(&str, Body, [&str; 2]); 7] = [
        (
            "stack moved by a push that is single-stepped",
            |a| (a.push_memory(), a.label("in"), a.jump_if_result("f"), a.ret()).3,
            ["f", "f"],
        ),
        ("push", |a| (a.landing_pad(), a.label("in"), a.prologue(), a.ret()).3, ["in", "f"]),
        ("stack moved", |a| (a.move_stack(), a.label("in"), a.jump_if_result("f"), a.ret()).3, ["f", "f"]),
        (
            "frame made before an emulated instruction",
            |a| (a.move_stack(), a.label("in"), a.jump_if_result("x"), a.label("x"), a.ret()).4,
            ["f", "f"],
        ),
        (
            "branch first",
            |a| (a.landing_pad(), a.label("at"), a.jump_if_result("x"), a.label("x"), a.ret()).4,
            ["at", "at"],
        ),
        ("loop head", |a| (a.landing_pad(), a.label("in"), a.prologue(), a.jump("in")).3, ["f", "f"]),
        (
            "argument gone",
            |a| {
                (
                    a.bytes.extend(match a.arch {
                        Arch::X86 => [0x48, 0x89, 0xc7, 0x90],      // mov %rax,%rdi; nop
                        Arch::Arm => 0xaa08_03e0_u32.to_le_bytes(), // mov x0, x8
                    }),
                    a.label("in"),
                    a.prologue(),
                    a.ret(),
                )
                    .3
            },
            ["f", "f"],
        ),
    ];
    for (what, body, expected) in cases {
        for (arch, label) in BOTH.into_iter().zip(expected) {
            let mut elf = Elf::new(arch);
            elf.function("llama_decode", |asm| {
                asm.label("f");
                body(asm);
            });
            let plan = plan(&mut [&mut elf]);
            // The branch on x86-64 follows the two bytes of a test.
            let test = if arch == Arch::X86 && label == "at" { 2 } else { 0 };
            assert_eq!(
                offsets(&plan, ProbeKind::LlamaDecode),
                [elf.offset(label) + test],
                "{what} on {arch:?}"
            );
        }
    }
}

#[test]
fn only_a_lone_operator_function_is_probed_behind_its_frame() {
    let functions = ["ggml_compute_forward", "ggml_compute_forward.constprop.0"];
    for count in 1..=2 {
        let mut elf = Elf::new(Arch::Arm);
        for (n, name) in functions[..count].iter().enumerate() {
            elf.function(name, |asm| {
                asm.label(&format!("f{n}"));
                asm.move_stack();
                asm.label(&format!("in{n}"));
                asm.jump_if_result(&format!("x{n}"));
                asm.label(&format!("x{n}"));
                asm.read_second(80);
                asm.ret();
            });
        }
        elf.function("ggml_graph_compute", |asm| {
            asm.prologue();
            functions[..count].iter().for_each(|name| asm.call(name));
            asm.ret();
        });
        // A clone may call the other one with the stack pointer that it was itself probed with:
        // Linux would forget it.
        let expected: &[&str] = if count == 1 { &["in0"] } else { &["f0", "f1"] };
        let expected: Vec<_> = expected.iter().map(|label| elf.offset(label)).collect();
        assert_eq!(offsets(&plan(&mut [&mut elf]), ProbeKind::OpFunction), expected);
    }
}

#[test]
fn a_call_outside_of_any_known_function_is_told() {
    for arch in BOTH {
        let mut elf = Elf::new(arch);
        elf.function(START, Asm::ret);
        elf.function("ggml_graph_compute", Asm::ret);
        elf.code.call(START);
        assert!(
            reason(&plan(&mut [&mut elf]), ProbeKind::OpStart).contains("no unwind information"),
            "{arch:?}"
        );
    }
}

#[test]
fn files_add_up_to_one_plan() {
    let (mut base, mut cpu) = (base(Arch::X86, 256, 248), cpu(Arch::X86, Shape::default()));
    let mut other = Elf::new(Arch::X86);
    other.function("_dl_debug_state", |asm| (asm.nop(), asm.label("event"), asm.ret()).2);
    let both = plan(&mut [&mut other, &mut cpu, &mut base]);
    assert!(both.layout.is_ok() && !both.tables.ops.is_empty());
    assert!(both.sites.iter().all(|s| s.file == 1));
    let roles: Vec<_> = both.files.iter().map(|f| describe::roles(&f.roles)).collect();
    assert_eq!(roles, ["", "CPU graph, CPU operators", "names and layout"]);
    let missing: Vec<_> = both.missing.iter().map(|m| m.kind).collect();
    assert_eq!(missing, [ProbeKind::LlamaDecode, ProbeKind::SchedulerGraph]);

    let (other_bytes, cpu_bytes) = (other.build(), cpu.build());
    let (linker, cpu) =
        (Image::parse("a", &other_bytes).expect("good"), Image::parse("b", &cpu_bytes).expect("good"));
    assert_eq!(library_event_site(&linker), Some(other.offset("event") - 1));
    assert_eq!(library_event_site(&cpu), None);
    assert!(is_engine_part(&cpu, &[]) && !is_engine_part(&linker, &[]));
}

#[test]
fn nothing_at_all_is_said_plainly() {
    let plan = plan(&mut []);
    assert_eq!(plan.sites, []);
    let missing: Vec<_> = plan.missing.iter().map(|m| m.kind).collect();
    assert_eq!(
        missing,
        [ProbeKind::LlamaDecode, ProbeKind::SchedulerGraph, ProbeKind::CpuGraph, ProbeKind::OpStart]
    );
}

#[test]
fn files_that_are_no_engine_are_refused_with_the_reason() {
    let good = cpu(Arch::X86, Shape::default()).build();
    let parse = |bytes: &[u8]| Image::parse("/lib/x.so", bytes).map(|_| ()).expect_err("refused");
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    assert!(matches!(parse(b"#!/bin/sh\n"), ElfError::NotElf { .. }));
    assert!(matches!(parse(b""), ElfError::NotElf { .. }));
    assert!(matches!(parse(&good[..40]), ElfError::Cut { end: 64, size: 40, .. }));
    assert!(matches!(parse(&good[..100]), ElfError::Cut { what: "the program header table", .. }));
    assert!(matches!(parse(&good[..good.len() / 2]), ElfError::Cut { what: "a loaded segment", .. }));
    let mut bare = cpu(Arch::X86, Shape::default());
    bare.sections = false;
    let bare = bare.build();
    let size = bare.len() as u64 - 1;
    assert!(
        matches!(parse(&bare[..bare.len() - 1]), ElfError::Cut { end, size: s, .. } if end == size + 1 && s == size)
    );
    assert!(matches!(parse(&changed(4, 1)), ElfError::Not64Bit { .. }));
    assert!(matches!(parse(&changed(5, 2)), ElfError::WrongMachine { .. }));
    let riscv = parse(&changed(18, 243)).to_string();
    assert!(riscv.contains("/lib/x.so") && riscv.contains("RISCV") && riscv.contains("x86-64"), "{riscv}");
}
