//! Names, struct offsets and numbers of graphs, from synthetic files.

use profinfer_engine::describe;

use crate::asm::BOTH;
use crate::elfgen::Pointing;
use crate::program::base;
use crate::synthetic::plan;

#[test]
fn tables_and_layout_come_from_the_base_library() {
    for arch in BOTH {
        for pointing in [Pointing::Rela, Pointing::Relr, Pointing::Fixed] {
            let mut elf = base(arch, 256, 248);
            elf.pointing = pointing;
            let plan = plan(&mut [&mut elf]);
            assert_eq!(
                plan.tables.ops,
                ["NONE", "DUP", "ADD", "MUL_MAT", "UNARY", "GLU"],
                "{arch:?} {pointing:?}"
            );
            assert_eq!(plan.tables.unary, ["ABS", "SGN", "NEG", "SILU"]);
            assert_eq!(plan.tables.glu, ["REGLU", "GEGLU", "SWIGLU"]);
            let types: Vec<_> =
                plan.tables.types.iter().map(|t| (&t.name[..], t.block_elements, t.block_bytes)).collect();
            let unused = ("", 0, 0);
            let first = [("f32", 1, 4), ("f16", 1, 2), ("q4_0", 32, 18), ("q4_1", 32, 20)];
            assert_eq!(types[..4], first);
            assert_eq!(types[4..], [unused, unused, ("q8_0", 32, 34)]);
            assert_eq!(plan.version, "ggml 9.8.7");
            let layout = plan.layout().expect("known");
            assert_eq!((layout.tensor_name, layout.tensor_data, layout.tensor_src), (256, 248, 152));
            assert_eq!((layout.params_ith, layout.params_phase, layout.graph_uid), (0, false, None));
        }
    }
}

#[test]
fn the_oldest_layout_has_phases() {
    for arch in BOTH {
        let layout = plan(&mut [&mut base(arch, 288, 280)]).layout().expect("known");
        assert_eq!((layout.tensor_size, layout.tensor_view_src, layout.params_ith), (368, 264, 4));
        assert!(layout.params_phase);
    }
}

#[test]
fn a_layout_is_never_guessed() {
    for arch in BOTH {
        let unknown = plan(&mut [&mut base(arch, 272, 264)]);
        assert_eq!(unknown.layout(), None);
        assert!(
            describe::layout(&unknown.layout).contains("offset 272"),
            "{}",
            describe::layout(&unknown.layout)
        );
        // Two accessors that contradict each other.
        let torn = plan(&mut [&mut base(arch, 256, 256)]);
        assert_eq!(torn.layout(), None);
        assert!(
            describe::layout(&torn.layout).contains("ggml_get_data"),
            "{}",
            describe::layout(&torn.layout)
        );
    }
    assert!(describe::layout(&plan(&mut []).layout).contains("ggml_get_name"));
}

#[test]
fn what_an_accessor_does_behind_a_call_or_a_choice_is_no_evidence() {
    for arch in BOTH {
        let mut elf = base(arch, 256, 248);
        elf.function("ggml_nelements", |asm| {
            asm.prologue();
            asm.call("ggml_get_name");
            asm.return_field(40);
        });
        elf.function("ggml_graph_nodes", |asm| {
            asm.jump_if_result("ggml_get_name");
            asm.return_field(24);
        });
        let note = describe::layout(&plan(&mut [&mut elf]).layout);
        let (seen, assumed) = note.split_once("; ").expect("two parts");
        let names = |text: &str, name: &str| text.split([':', ',']).any(|word| word.trim() == name);
        assert!(names(seen, "data") && !names(assumed, "data"), "{arch:?}: {note}");
        for field in ["ne", "nodes"] {
            assert!(!names(seen, field) && names(assumed, field), "{arch:?} {field}: {note}");
        }
    }
}

#[test]
fn a_graph_has_a_number_where_the_scheduler_is_seen_to_set_it() {
    // (the function that the scheduler calls, whether it stores in its own frame, the offset)
    let cases = [
        ("counter", false, Some(88)),
        ("counter", true, None),
        ("ggml_get_name", false, None),
        ("ggml_graph_next_uid", false, Some(88)),
    ];
    for arch in BOTH {
        for (callee, own_frame, expected) in cases {
            let mut elf = base(arch, 256, 248);
            elf.data("count");
            elf.word(1);
            // Stripped builds have no name for it; others call it through a stub.
            elf.function("", |asm| {
                asm.label("counter");
                asm.count_up("count");
            });
            elf.import("uid slot", "ggml_graph_next_uid");
            elf.function("", |asm| {
                asm.label("ggml_graph_next_uid");
                asm.stub("uid slot");
            });
            elf.function("ggml_backend_sched_split_graph", |asm| {
                asm.prologue();
                asm.call("ggml_get_data");
                asm.call(callee);
                asm.store_result_at_88(own_frame);
                asm.ret();
            });
            let layout = plan(&mut [&mut elf]).layout().expect("known");
            assert_eq!(layout.graph_uid, expected, "{arch:?} {callee} {own_frame}");
        }
    }
}
