//! The operator function of a file without symbols.

use profinfer_engine::{EnginePlan, ProbeKind};

use crate::asm::{Arch, BOTH};
use crate::elfgen::Elf;
use crate::program::{START, base};
use crate::synthetic::{offsets, plan, reason, ways};

/// Differences of the function from a real one.
#[derive(Debug, Clone, Copy)]
struct Dispatching {
    kernels: usize,
    /// The constant that the operator is compared with; the engine has 6 operators.
    bound: u8,
    /// The tensor is the second argument.
    second: bool,
    /// An exported function that it also calls.
    calls: Option<&'static str>,
    called: bool,
    jumps: bool,
}

const REAL: Dispatching =
    Dispatching { kernels: 17, bound: 5, second: true, calls: None, called: true, jumps: true };

fn cpu(arch: Arch, shape: Dispatching) -> Elf {
    let mut elf = Elf::new(arch);
    for n in 0..shape.kernels {
        elf.function("", |asm| {
            asm.label(&format!("kernel {n}"));
            asm.ret();
        });
    }
    if let Some(name) = shape.calls {
        elf.function(name, |asm| asm.ret());
    }
    elf.function("", |asm| {
        asm.label("dispatcher");
        asm.prologue();
        asm.read_operator(shape.second);
        asm.compare(shape.bound);
        asm.jump_if_result("out");
        if shape.jumps {
            asm.jump_table();
        }
        for n in 0..shape.kernels {
            asm.call(&format!("kernel {n}"));
            asm.ret();
        }
        if let Some(name) = shape.calls {
            asm.call(name);
        }
        asm.label("out");
        asm.ret();
    });
    // Code continues after it, as in every real file.
    elf.function("ggml_graph_compute", |asm| {
        asm.landing_pad();
        asm.prologue();
        if shape.called {
            asm.call("dispatcher");
        }
        (0..200).for_each(|_| asm.nop());
        asm.ret();
    });
    elf
}

fn examined(arch: Arch, shape: Dispatching) -> (EnginePlan, Vec<u64>, u64) {
    let (mut tables, mut elf) = (base(arch, 256, 248), cpu(arch, shape));
    let plan = plan(&mut [&mut tables, &mut elf]);
    let found = offsets(&plan, ProbeKind::OpFunction);
    let dispatcher = elf.offset("dispatcher");
    (plan, found, dispatcher)
}

#[test]
fn it_is_found_by_what_it_does() {
    for arch in BOTH {
        for bound in [2, 5, 6] {
            let (plan, found, dispatcher) = examined(arch, Dispatching { bound, ..REAL });
            assert_eq!(found, [dispatcher], "{arch:?} {bound}");
            let way = ways(&plan)[2].clone().expect("a way");
            assert_eq!(way, "dispatcher found by its structure");
        }
        // Neither a fork's own function in it matters, nor that other kernels are tried first and
        // cases return.
        for calls in ["ggml_is_empty", START] {
            let (_, found, dispatcher) = examined(arch, Dispatching { calls: Some(calls), ..REAL });
            assert_eq!(found, [dispatcher], "{arch:?} {calls}");
        }
    }
}

#[test]
fn what_does_less_is_none() {
    let others = [
        Dispatching { kernels: 3, ..REAL },
        Dispatching { bound: 1, ..REAL },
        Dispatching { bound: 7, ..REAL },
        Dispatching { second: false, ..REAL },
        Dispatching { calls: Some("ggml_add"), ..REAL },
        Dispatching { called: false, ..REAL },
        Dispatching { jumps: false, ..REAL },
    ];
    for arch in BOTH {
        for other in others {
            let (plan, found, _) = examined(arch, other);
            assert_eq!(found, [], "{arch:?} {other:?}");
            assert!(reason(&plan, ProbeKind::OpStart).contains("no function dispatches"), "{other:?}");
        }
    }
}

#[test]
fn without_the_table_of_operators_nothing_is_found() {
    for arch in BOTH {
        let mut elf = cpu(arch, REAL);
        assert_eq!(offsets(&plan(&mut [&mut elf]), ProbeKind::OpFunction), []);
    }
}
