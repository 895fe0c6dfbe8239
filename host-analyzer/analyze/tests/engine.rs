//! `analyze engine` on synthetic files: both instruction sets, and the backends of the profiles.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[expect(dead_code, reason = "shared with the engine crate's own tests, which need more of it")]
#[path = "../../../engine/tests/engine/asm.rs"]
mod asm;
#[expect(dead_code, reason = "shared with the engine crate's own tests, which need more of it")]
#[path = "../../../engine/tests/engine/elfgen.rs"]
mod elfgen;
#[expect(dead_code, reason = "shared with the engine crate's own tests, which need more of it")]
#[path = "../../../engine/tests/engine/program.rs"]
mod program;

use std::path::Path;
use std::process::Command;

use asm::{Asm, BOTH};
use program::{Shape, base, cpu};

/// Exit status and standard output.
fn analyze(arguments: &[&str], folder: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .current_dir(folder)
        // The user who runs the tests may have profiles.
        .env("XDG_CONFIG_HOME", folder)
        .args(arguments)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn an_engine_of_each_instruction_set_is_described() {
    for (arch, machine) in BOTH.into_iter().zip(["x86-64", "arm64"]) {
        let folder = tempfile::tempdir().unwrap();
        let libraries = folder.path().join("lib");
        std::fs::create_dir(&libraries).unwrap();
        let mut kernels = cpu(arch, Shape::default());
        kernels.function("ggml_cl_mul_mat", Asm::ret);
        for (name, elf) in [("libggml-base.so", &mut base(arch, 256, 248)), ("libggml-cpu.so", &mut kernels)]
        {
            std::fs::write(libraries.join(name), elf.build()).unwrap();
        }
        std::fs::write(libraries.join("README"), "no engine").unwrap();
        let (status, said) = analyze(&["engine", "lib"], folder.path());
        let line = |name: &str| said.lines().find_map(|l| l.strip_prefix(name)).map(str::trim).unwrap();
        assert_eq!(line("version"), "ggml 9.8.7", "{said}");
        assert!(line("token").starts_with("none: llama_decode: no file defines"), "{said}");
        assert_eq!(
            line("operator"),
            "calls of ggml_cpu_extra_compute_forward, clblast nested calls by ggml_cl_mul_mat",
            "{said}"
        );
        assert!(
            said.contains(&format!("CPU graph, CPU operators, functions of backends; {machine}, ")),
            "{said}"
        );
        assert!(!said.contains("README"), "what is no engine's is left out of a folder: {said}");
        // A missing level gives exit status 1, as with the agent's `engine`.
        assert_eq!(status, Some(1));
    }
}

#[test]
fn what_was_named_and_is_no_engine_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.sh"), "#!/bin/sh\n").unwrap();
    let (status, said) = analyze(&["engine", "run.sh"], folder.path());
    assert!(
        said.contains("run.sh: not an ELF file") && said.contains("it is a script (#!/bin/sh)"),
        "{said}"
    );
    assert_eq!(status, Some(1));
    assert_eq!(analyze(&["engine", "nowhere"], folder.path()), (Some(1), String::new()));
}
