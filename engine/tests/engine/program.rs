//! A miniature engine: accessors, tables and a dispatch loop shaped as compilers shape GGML's.

use crate::asm::{Arch, Asm};
use crate::elfgen::Elf;

/// Number of operators; each has a separate kernel.
pub(crate) const OPERATORS: usize = 30;
pub(crate) const START: &str = "ggml_cpu_extra_compute_forward";

/// Variations of the loop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    /// Vendor's prefix of all symbols.
    pub(crate) prefix: &'static str,
    /// Kernels are called through stubs, the start too.
    pub(crate) imported: bool,
    /// A kernel that bypasses the start, by name.
    pub(crate) bypass: Option<&'static str>,
    /// One operator continues with the next node without passing the end.
    pub(crate) leak: bool,
    /// One operator returns instead of going to the end.
    pub(crate) returns: bool,
    /// A nonzero result of the start leads somewhere other than to the end.
    pub(crate) strange_result: bool,
    /// Registers are restored where the cases meet, and the start's result goes past that.
    pub(crate) puts_back: bool,
    /// Number of operators; 0 for [`OPERATORS`].
    pub(crate) operators: usize,
}

/// Adds a function with a vendor's prefix that the loop calls: a real one, or a stub.
fn callee(elf: &mut Elf, shape: Shape, name: &str) {
    let name = format!("{}{name}", shape.prefix);
    if shape.imported {
        elf.import(&format!("slot {name}"), &name);
        elf.function("", |asm| {
            asm.label(&name);
            asm.stub(&format!("slot {name}"));
        });
    } else {
        elf.function(&name, Asm::ret);
    }
}

/// The CPU library: `ggml_graph_compute` and the loop, with labels `start`, `fused` and `end` in
/// the code.
pub(crate) fn cpu(arch: Arch, shape: Shape) -> Elf {
    let mut elf = Elf::new(arch);
    let operators = if shape.operators == 0 { OPERATORS } else { shape.operators };
    let named = |name: &str| format!("{}{name}", shape.prefix);
    callee(&mut elf, shape, START);
    for n in 0..operators {
        callee(&mut elf, shape, &format!("ggml_compute_forward_op{n}"));
    }
    if let Some(bypass) = shape.bypass {
        callee(&mut elf, shape, bypass);
    }
    elf.function("", |asm| {
        asm.label("loop function");
        asm.landing_pad();
        asm.prologue();
        asm.label("next node");
        asm.jump_if_result("out");
        if let Some(bypass) = shape.bypass {
            asm.jump_if_result("bypass");
            asm.jump("ordinary");
            asm.label("bypass");
            asm.label("fused");
            asm.call(&named(bypass));
            asm.jump("join");
            asm.label("ordinary");
        }
        // Padding before a block that is jumped to must not count as the target of a table.
        asm.jump("go");
        asm.nop();
        asm.label("go");
        asm.label("start");
        asm.call(&named(START));
        asm.jump_if_result(match shape {
            Shape { strange_result: true, .. } => "out",
            Shape { puts_back: true, .. } => "behind",
            _ => "join",
        });
        asm.jump_table();
        for n in 0..operators {
            asm.call(&named(&format!("ggml_compute_forward_op{n}")));
            if shape.returns && n == 3 {
                asm.ret();
            }
            asm.jump(if shape.leak && n == 3 { "next node" } else { "join" });
        }
        asm.label("join");
        asm.read_second(4);
        if shape.puts_back {
            asm.jump("behind");
            asm.label("behind");
            asm.read_second(4);
        }
        asm.label("before end");
        asm.jump_if_result("skip");
        asm.nop();
        asm.label("skip");
        asm.jump("next node");
        asm.label("out");
        asm.ret();
    });
    elf.function(&named("ggml_graph_compute"), |asm| {
        asm.landing_pad();
        asm.label("graph entry");
        asm.prologue();
        asm.call("loop function");
        asm.ret();
    });
    elf
}

/// Offset in the file of the instruction that ends an operator: on x86-64 the branch follows a
/// test.
pub(crate) fn end(elf: &Elf) -> u64 {
    elf.offset("before end") + if elf.code.arch == Arch::X86 { 2 } else { 0 }
}

/// The base library: accessors for a name and data at these offsets, version, and tables.
pub(crate) fn base(arch: Arch, name: u32, data: u32) -> Elf {
    let mut elf = Elf::new(arch);
    elf.function("ggml_get_name", |asm| {
        asm.landing_pad();
        asm.return_field_address(name);
    });
    elf.function("ggml_get_data", |asm| {
        asm.landing_pad();
        asm.return_field(data);
    });
    elf.function("ggml_version", |asm| asm.return_address("version"));
    elf.text("version", "9.8.7");
    // More pointers than one word of packed relocations covers.
    elf.data("others");
    (0..70).for_each(|n| elf.text_pointer(&format!("other {n}")));
    elf.data("ops");
    // Consecutive tables, as linkers place them.
    let ops = ["NONE", "DUP", "ADD", "MUL_MAT", "UNARY", "GLU"];
    let unary = ["ABS", "SGN", "NEG", "SILU"];
    let glu = ["REGLU", "GEGLU", "SWIGLU"];
    let symbols = ["none", "x", "x+y", "X*Y", "unary(x)", "glu(x)"];
    for text in glu.iter().chain(&unary).chain(&ops).chain(&symbols) {
        elf.text_pointer(text);
    }
    elf.data("types");
    for (text, elements, bytes) in [
        ("f32", 1, 4),
        ("f16", 1, 2),
        ("q4_0", 32, 18),
        ("q4_1", 32, 20),
        ("DEPRECATED", 0, 0),
        ("", 0, 0),
        ("q8_0", 32, 34),
        ("", 0, 0),
    ] {
        if text.is_empty() {
            elf.word(0);
        } else {
            elf.text_pointer(text);
        }
        [elements, 0, bytes, 0].into_iter().for_each(|word| elf.word(word));
    }
    // The next entry is not a type. Nor is the one after it, although it looks like one.
    [7, 7, 7, 7, 7].into_iter().for_each(|word| elf.word(word));
    elf.text_pointer("ghost");
    [32, 0, 18, 0].into_iter().for_each(|word| elf.word(word));
    elf
}
