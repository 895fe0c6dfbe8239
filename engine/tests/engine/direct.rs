//! Where operators can be recorded without a trap, and where they cannot.

use profinfer_engine::{DirectPlaces, DirectRole, EnginePlan, Machine, NoDirect, ProbeKind, describe};

use crate::asm::{Arch, Asm, BOTH};
use crate::elfgen::{BIAS, Elf};
use crate::program::{OPERATORS, START, base};
use crate::synthetic::plan;

const FUSED: &str = "ggml_compute_forward_norm_mul_fused";
/// mov 0x140(%rsp),%rax, in two halves.
const LOAD: ([u8; 4], [u8; 4]) = ([0x48, 0x8b, 0x84, 0x24], [0x40, 1, 0, 0]);
/// ldr w8, [x19, #536].
const LOAD_ARM: u32 = 0xb942_1a68;

/// Instructions.
type Body = fn(&mut Asm);

/// A loop over the nodes, with the parts that the tests change. Labels: `start`, `fused`, `join`
/// where the operators meet, and `inside` in the middle of the movable instruction there.
struct Loop {
    arch: Arch,
    /// Calls through a stub.
    imported: bool,
    /// Calls through a pointer; x86-64 only.
    through: bool,
    fused: bool,
    /// Where fused operators meet the others.
    fused_meets: &'static str,
    /// Code inserted where the first operator is computed.
    first: Body,
    /// Code where the operators meet, in place of a load.
    meets: Option<Body>,
    /// A jump whose table is unknown.
    unknown: bool,
    /// Target of one entry of the table.
    entry: &'static str,
}

const fn looped(arch: Arch) -> Loop {
    Loop {
        arch,
        imported: false,
        through: false,
        fused: false,
        fused_meets: "join",
        first: |_| {},
        meets: None,
        unknown: false,
        entry: "join",
    }
}

impl Loop {
    fn elf(&self) -> Elf {
        let mut elf = Elf::new(self.arch);
        let kernels: Vec<_> = (0..OPERATORS).map(|n| format!("ggml_compute_forward_op{n}")).collect();
        for name in kernels.iter().map(String::as_str).chain([FUSED]) {
            elf.function(name, Asm::ret);
        }
        if self.imported || self.through {
            elf.import("slot", START);
        }
        if self.imported {
            elf.function("", |asm| {
                asm.label(START);
                asm.stub("slot");
            });
        } else {
            elf.function(START, Asm::ret);
        }
        elf.function("", |asm| self.body(asm, &kernels));
        elf.function("ggml_graph_compute", |asm| {
            asm.landing_pad();
            asm.prologue();
            asm.call("loop function");
            asm.ret();
        });
        let cases: Vec<_> = (0..OPERATORS).map(|n| format!("case {n}")).collect();
        let mut cases: Vec<_> = cases.iter().map(String::as_str).collect();
        cases.push(self.entry);
        elf.jump_table("table", &cases);
        elf
    }

    fn body(&self, asm: &mut Asm, kernels: &[String]) {
        asm.label("loop function");
        asm.prologue();
        asm.label("next node");
        asm.jump_if_result("out");
        if self.fused {
            asm.jump_if_result("ordinary");
            asm.label("fused");
            asm.call(FUSED);
            asm.jump(self.fused_meets);
            asm.label("ordinary");
        }
        asm.label("start");
        if self.through {
            asm.call_slot("slot");
        } else {
            asm.call(START);
        }
        asm.jump_if_result("join");
        if self.unknown {
            asm.jump_table();
        } else {
            asm.switch(u8::try_from(OPERATORS).expect("few"), "table", "join");
        }
        for (n, kernel) in kernels.iter().enumerate() {
            asm.label(&format!("case {n}"));
            asm.call(kernel);
            if n == 0 {
                (self.first)(asm);
            }
            asm.jump("join");
        }
        asm.label("join");
        match (self.meets, self.arch) {
            (Some(meets), _) => meets(asm),
            (None, Arch::X86) => {
                asm.bytes.extend(LOAD.0);
                asm.label("inside");
                asm.bytes.extend(LOAD.1);
            }
            (None, Arch::Arm) => asm.bytes.extend(LOAD_ARM.to_le_bytes()),
        }
        asm.label("behind");
        asm.jump_if_result("skip");
        asm.nop();
        asm.label("skip");
        asm.jump("next node");
        asm.label("out");
        asm.ret();
    }
}

/// The complete file, with a table.
pub(crate) fn library(arch: Arch) -> Vec<u8> {
    looped(arch).elf().build()
}

/// The result for the last of the files.
fn found(plan: &EnginePlan) -> Result<&DirectPlaces, NoDirect> {
    let file = plan.files.last().expect("a file");
    file.direct.as_ref().expect("it has operators").as_ref().map_err(|reason| *reason)
}

/// Why there are no places.
fn refused(elf: &mut Elf) -> NoDirect {
    found(&plan(&mut [elf])).expect_err("refused")
}

fn loaded(arch: Arch) -> Vec<u8> {
    if arch == Arch::X86 { [LOAD.0, LOAD.1].concat() } else { LOAD_ARM.to_le_bytes().to_vec() }
}

#[test]
fn calls_start_operators_and_a_moved_instruction_ends_them() {
    for arch in BOTH {
        for imported in [false, true] {
            let mut elf = Loop { imported, fused: true, ..looped(arch) }.elf();
            let plan = plan(&mut [&mut elf]);
            let direct = found(&plan).expect("places");
            let places: Vec<_> = direct.places.iter().map(|p| (p.address, p.role, p.bytes.len())).collect();
            let call = if arch == Arch::X86 { 5 } else { 4 };
            let start = |fused, callee| DirectRole::Start { fused, callee: elf.address(callee) };
            let expected = [
                (elf.address("fused"), start(true, FUSED), call),
                (elf.address("start"), start(false, START), call),
                (elf.address("join"), DirectRole::End, loaded(arch).len()),
            ];
            assert_eq!(places, expected, "{arch:?} {imported}");
            assert!(direct.places.iter().all(|p| p.offset == p.address - BIAS));
            assert_eq!(direct.places[2].bytes, loaded(arch));
            let machine = if arch == Arch::X86 { Machine::X86_64 } else { Machine::Arm64 };
            assert_eq!((direct.machine, direct.file, direct.has_phase), (machine, 0, false));
            assert_eq!(direct.proof.tables, usize::from(arch == Arch::X86));
        }
    }
}

#[test]
fn a_branch_into_the_instruction_is_refused_wherever_it_comes_from() {
    let into = |elf: &mut Elf, place: &str, by: &str| {
        let (refused, place, by) = (refused(elf), elf.address(place), elf.address(by));
        assert_eq!(refused, NoDirect::LedInto { place, by });
    };
    // From the function itself, a branch may not lead to the middle of an instruction.
    let first: Body = |asm| {
        asm.label("by");
        asm.jump("inside");
    };
    into(&mut Loop { first, ..looped(Arch::X86) }.elf(), "inside", "by");
    let mut elf = Loop { entry: "inside", ..looped(Arch::X86) }.elf();
    assert!(matches!(refused(&mut elf), NoDirect::LedInto { place, .. } if place == elf.address("inside")));
    // Any branch may lead to its first byte.
    let mut elf = Loop { first: |asm| asm.jump_if_result("join"), ..looped(Arch::X86) }.elf();
    assert!(found(&plan(&mut [&mut elf])).is_ok());

    // Code that jumps into a function counts as a part of it.
    let outside: [(&str, Body); 3] = [
        ("inside", |asm| asm.jump("inside")),
        ("join", |asm| asm.call("inside")),
        ("join", |asm| asm.return_address("inside")),
    ];
    for (place, outside) in outside {
        let mut elf = looped(Arch::X86).elf();
        elf.function("other", |asm| {
            asm.label("by");
            outside(asm);
        });
        into(&mut elf, place, "by");
    }
    // A branch of two bytes.
    let mut elf = looped(Arch::X86).elf();
    let inside = elf.address("inside");
    elf.function("other", |asm| {
        asm.label("by");
        asm.short_jump(inside);
    });
    into(&mut elf, "join", "by");

    let mut elf = looped(Arch::X86).elf();
    elf.data("pointer");
    elf.code_pointer("inside");
    assert!(matches!(refused(&mut elf), NoDirect::LedInto { .. }));
}

#[test]
fn what_depends_on_its_address_or_is_too_short_stays() {
    let fixed: [(Arch, Body); 6] = [
        (Arch::X86, |asm| asm.bytes.extend([0x48, 0x8b, 0x05, 1, 0, 0, 0])), // mov 1(%rip),%rax
        (Arch::X86, |asm| asm.bytes.extend([0x8b, 0x47, 80])),               // mov 80(%rdi),%eax
        (Arch::X86, |asm| asm.bytes.extend([0xf0, 0x83, 0x44, 0x24, 8, 1])), // lock addl $1,8(%rsp)
        (Arch::Arm, |asm| asm.bytes.extend(u32::to_le_bytes(0x9000_0a40))),  // adrp
        (Arch::Arm, |asm| asm.bytes.extend(u32::to_le_bytes(0x5800_0040))),  // ldr literal
        (Arch::Arm, |asm| asm.bytes.extend(u32::to_le_bytes(0xc85f_7c00))),  // ldxr
    ];
    for (n, (arch, meets)) in fixed.into_iter().enumerate() {
        let mut elf = Loop { meets: Some(meets), ..looped(arch) }.elf();
        assert_eq!(refused(&mut elf), NoDirect::NothingToMove(elf.address("join")), "{n}");
    }
    // The next one will do, if there is one before control divides.
    let mut elf = Loop {
        meets: Some(|asm| {
            asm.bytes.extend([0x8b, 0x47, 80]);
            asm.label("second");
            asm.bytes.extend([0x81, 0xff, 0, 1, 0, 0]); // cmp $256,%edi
        }),
        ..looped(Arch::X86)
    }
    .elf();
    let plan = plan(&mut [&mut elf]);
    assert_eq!(found(&plan).expect("places").places.last().map(|p| p.address), Some(elf.address("second")));
}

#[test]
fn what_not_every_operator_passes_is_no_end() {
    for arch in BOTH {
        let mut elf = Loop { fused: true, fused_meets: "behind", ..looped(arch) }.elf();
        let plan = plan(&mut [&mut elf]);
        assert_eq!(found(&plan), Err(NoDirect::NothingToMove(elf.address("join"))), "{arch:?}");
        assert!(plan.sites.iter().any(|s| s.kind == ProbeKind::OpEnd && s.offset >= elf.offset("behind")));
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let mut elf = Loop { unknown: true, ..looped(Arch::X86) }.elf();
    assert!(matches!(refused(&mut elf), NoDirect::UnknownTable(_)));
    // On arm64 every table leads to an instruction.
    let mut elf = Loop { unknown: true, ..looped(Arch::Arm) }.elf();
    assert!(found(&plan(&mut [&mut elf])).is_ok());

    let mut elf = Loop { first: |asm| asm.bytes.push(0x06), ..looped(Arch::X86) }.elf();
    assert!(matches!(refused(&mut elf), NoDirect::Undecoded(_)));

    let mut elf = looped(Arch::X86).elf();
    elf.landing_pads = true;
    assert_eq!(refused(&mut elf), NoDirect::LandingPads(elf.address("loop function")));
}

#[test]
fn a_start_that_is_called_through_a_pointer_is_refused() {
    let mut elf = Loop { through: true, ..looped(Arch::X86) }.elf();
    assert_eq!(refused(&mut elf), NoDirect::NotACall(elf.address("start")));
}

/// An engine whose operators are calls of a function, with additional code.
fn old(arch: Arch, more: impl FnOnce(&mut Elf)) -> Elf {
    let mut elf = Elf::new(arch);
    elf.function("ggml_compute_forward", |asm| {
        asm.landing_pad();
        asm.prologue();
        asm.read_second(80);
        asm.jump_if_result("no recursion");
        asm.call("ggml_compute_forward");
        asm.label("no recursion");
        asm.ret();
    });
    elf.function("ggml_graph_compute", |asm| {
        asm.landing_pad();
        asm.prologue();
        asm.label("first");
        asm.call("ggml_compute_forward");
        asm.nop();
        asm.label("second");
        asm.call("ggml_compute_forward");
        asm.ret();
    });
    more(&mut elf);
    elf
}

#[test]
fn calls_of_an_operator_function_are_taken_whole() {
    for arch in BOTH {
        for (name, phases) in [(256, false), (288, true)] {
            let mut elf = old(arch, |_| {});
            let mut accessors = base(arch, name, name - 8);
            let plan = plan(&mut [&mut accessors, &mut elf]);
            let direct = found(&plan).expect("places");
            let callee = elf.address("ggml_compute_forward");
            let places: Vec<_> = direct.places.iter().map(|p| (p.address, p.role)).collect();
            let whole = DirectRole::Whole { callee };
            // The call within the function is part of the calling operator.
            assert_eq!(places, [(elf.address("first"), whole), (elf.address("second"), whole)], "{arch:?}");
            assert_eq!((direct.file, direct.has_phase, direct.proof.references), (1, phases, 3));
        }
    }
}

#[test]
fn an_operator_function_that_is_reached_otherwise_is_refused() {
    for arch in BOTH {
        let more: [fn(&mut Elf); 3] = [
            |elf| elf.function("other", |asm| asm.return_address("ggml_compute_forward")),
            |elf| elf.function("other", |asm| asm.jump("ggml_compute_forward")),
            |elf| {
                elf.data("pointer");
                elf.code_pointer("ggml_compute_forward");
            },
        ];
        for (n, more) in more.into_iter().enumerate() {
            let mut elf = old(arch, more);
            let function = elf.address("ggml_compute_forward");
            let refused = refused(&mut elf);
            assert!(
                matches!(refused, NoDirect::Referred { function: f, .. } if f == function),
                "{arch:?} {n}: {refused:?}"
            );
        }
    }
}

#[test]
fn a_call_with_a_prefix_or_through_a_pointer_is_refused() {
    let calls: [Body; 2] = [
        |asm| {
            asm.bytes.push(0xf2); // bnd
            asm.call("ggml_compute_forward");
        },
        |asm| asm.call_slot("slot"),
    ];
    for call in calls {
        let mut elf = old(Arch::X86, |elf| {
            elf.import("slot", "ggml_compute_forward");
            elf.function("other", |asm| {
                asm.label("odd");
                call(asm);
                asm.ret();
            });
        });
        assert_eq!(refused(&mut elf), NoDirect::NotACall(elf.address("odd")));
    }
}

#[test]
fn a_call_through_a_stub_of_the_same_file_will_do() {
    for arch in BOTH {
        let mut elf = Elf::new(arch);
        elf.function("ggml_compute_forward", |asm| {
            asm.prologue();
            asm.read_second(80);
            asm.ret();
        });
        elf.import("slot", "ggml_compute_forward");
        elf.function("", |asm| {
            asm.label("stub");
            asm.stub("slot");
        });
        elf.function("ggml_graph_compute", |asm| {
            asm.prologue();
            asm.call("stub");
            asm.ret();
        });
        let plan = plan(&mut [&mut elf]);
        let roles: Vec<_> = found(&plan).expect("places").places.iter().map(|p| p.role).collect();
        assert_eq!(roles, [DirectRole::Whole { callee: elf.address("stub") }], "{arch:?}");
    }
}

#[test]
fn it_is_said_in_words() {
    let mut elf = looped(Arch::X86).elf();
    let plan_of = plan(&mut [&mut elf]);
    let text = describe::direct(plan_of.files[0].direct.as_ref().expect("operators"));
    let (start, end) = (elf.offset("start"), elf.offset("join"));
    assert!(
        text.starts_with(&format!("offsets: start {start:#x}; end {end:#x} (8 bytes moved)\n")),
        "{text}"
    );
    assert!(text.contains("1 jump table"), "{text}");
    let mut elf = Loop { unknown: true, ..looped(Arch::X86) }.elf();
    let plan_of = plan(&mut [&mut elf]);
    let text = describe::direct(plan_of.files[0].direct.as_ref().expect("operators"));
    assert!(text.starts_with("none: the targets of the jump at "), "{text}");
}
