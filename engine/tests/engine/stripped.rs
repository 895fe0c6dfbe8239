//! Stripped files that contain the engine and have no names.

use profinfer_engine::{EnginePlan, Image, ProbeKind, examine};
use profinfer_skip::needed_path;

use crate::asm::{Arch, BOTH};
use crate::elfgen::Elf;
use crate::synthetic::{offsets, plan, reason, ways};

const DECODE: [&str; 2] = ["%s: failed to decode, ret = %d\n", "llama_decode"];
const GRAPH: [&str; 2] = ["cplan", "cplan->n_threads > 0"];

/// Functions that refer to these texts and read the word at this offset of their second argument.
fn program(arch: Arch, functions: &[(&[&str], u32)]) -> Elf {
    let mut elf = Elf::new(arch);
    for text in DECODE.iter().chain(&GRAPH) {
        elf.text(text, text);
    }
    elf.data("operators");
    for name in ["NONE", "DUP", "ADD", "MUL_MAT"] {
        elf.text_pointer(name);
    }
    for (n, (texts, offset)) in functions.iter().enumerate() {
        elf.function("", |asm| {
            asm.label(&format!("function {n}"));
            asm.landing_pad();
            asm.prologue();
            asm.read_second(*offset);
            texts.iter().for_each(|text| asm.return_address(text));
        });
    }
    elf
}

fn token(plan: &EnginePlan) -> String {
    ways(plan)[0].clone().unwrap_or_else(|why| format!("none: {why}"))
}

#[test]
fn functions_are_known_by_their_messages() {
    for arch in BOTH {
        let mut elf = program(arch, &[(&["cplan"], 16), (&DECODE, 0), (&GRAPH, 16), (&DECODE[..1], 0)]);
        let plan = plan(&mut [&mut elf]);
        for (kind, label) in [(ProbeKind::LlamaDecode, "function 1"), (ProbeKind::CpuGraph, "function 2")] {
            let (found, start) = (offsets(&plan, kind), elf.offset(label));
            assert!(
                found.len() == 1 && (start..start + 16).contains(&found[0]),
                "{arch:?} {kind:?} {found:x?}"
            );
        }
        assert_eq!(token(&plan), "llama_decode by its messages");
    }
}

#[test]
fn two_that_say_the_same_are_none() {
    for arch in BOTH {
        let mut elf = program(arch, &[(&DECODE, 0), (&DECODE, 0), (&GRAPH, 16)]);
        let plan = plan(&mut [&mut elf]);
        assert_eq!(offsets(&plan, ProbeKind::LlamaDecode), [], "{arch:?}");
        assert!(
            token(&plan).starts_with("none: llama_decode: the file names none of its functions"),
            "{}",
            token(&plan)
        );
        assert_eq!(offsets(&plan, ProbeKind::CpuGraph).len(), 1);
    }
}

#[test]
fn what_does_not_read_its_arguments_so_is_none() {
    for arch in BOTH {
        let mut elf = program(arch, &[(&DECODE, 0), (&GRAPH, 24)]);
        let plan = plan(&mut [&mut elf]);
        assert_eq!(offsets(&plan, ProbeKind::CpuGraph), [], "{arch:?}");
        for kind in
            [ProbeKind::CpuGraph, ProbeKind::OpStart, ProbeKind::SchedulerGraph, ProbeKind::BackendGraph]
        {
            assert!(reason(&plan, kind).starts_with("the file names none of its functions"), "{kind:?}");
        }
    }
}

/// A real one: everything it lacks is reported as missing, level by level, and nothing else is
/// mistaken for it.
#[test]
#[ignore = "ci/engines/matrix.sh runs it"]
fn a_real_program_without_one_of_its_messages() {
    let Some(path) = needed_path("PROFINFER_STRIPPED_ENGINE", "ci/engines/matrix.sh") else { return };
    let bytes = std::fs::read(&path).expect("readable");
    let examined = |without: &str| {
        let mut bytes = bytes.clone();
        let places: Vec<_> = memchr::memmem::find_iter(&bytes, without.as_bytes()).collect();
        places.into_iter().filter(|_| !without.is_empty()).for_each(|at| bytes[at] = b'#');
        let image = Image::parse("program", &bytes).expect("an ELF file");
        examine(&[image], &[])
    };
    let whole = ways(&examined(""));
    assert!(whole.iter().all(Result::is_ok), "{whole:?}");
    let [token, graph, operator] = ways(&examined("%s: failed to decode, ret = %d\n"));
    assert!(token.is_ok_and(|way| way.ends_with("without llama_decode")));
    assert_eq!((&graph, &operator), (&whole[1], &whole[2]));
    let [token, graph, operator] = ways(&examined("cplan->n_threads > 0"));
    assert_eq!(token, whole[0]);
    assert!(graph.is_ok_and(|way| way.contains("without ggml_graph_compute")));
    assert!(operator.is_err_and(|why| why.contains("the file names none of its functions")));
    let [_, _, operator] = ways(&examined("tensor->view_src == NULL"));
    assert!(operator.is_err_and(|why| why.contains("structs cannot be read")));
}
