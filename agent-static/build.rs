//! Compiles the BPF programs and generates their skeleton.

use std::env;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    // libbpf-cargo adds `-g -O2 -target bpf -D__TARGET_ARCH_<x86|arm64>` and the path of libbpf's headers.
    // The instruction set is pinned: Linux 5.10 takes v3, and compilers change their default.
    let mut builder = libbpf_cargo::SkeletonBuilder::new();
    builder
        .source("../bpf/profinfer.bpf.c")
        .clang_args(["-I../bpf", "-Wall", "-Wextra", "-Werror", "-mcpu=v3"]);
    if let Some(clang) = env::var_os("BPF_CLANG") {
        builder.clang(clang);
    }
    builder.build_and_generate(out.join("profinfer.skel.rs"))?;
    println!("cargo:rerun-if-changed=../bpf");
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
    Ok(())
}
