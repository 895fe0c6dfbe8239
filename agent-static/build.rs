//! Compiles the BPF programs, generates their skeleton and writes the board profiles as Rust
//! constants: the agent never parses profiles.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use object::build::elf::{Builder, SectionData};
use profinfer_boards::{Backend, Board, Catalog, Level, PlannedCounter};
use profinfer_wire::record::control::{GaugeRequest, GaugeSource};

#[path = "src/bpf/stack.rs"]
#[allow(unreachable_pub, dead_code, reason = "the agent uses all of it")]
mod stack;

fn main() -> Result<(), Box<dyn Error>> {
    let catalog = Catalog::shipped()?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    // libbpf-cargo adds `-g -O2 -target bpf -D__TARGET_ARCH_<x86|arm64>` and the path of libbpf's
    // headers. The instruction set is pinned: Linux 5.10 accepts v3, and compilers change their
    // default. Paths of the sources are relative to the repository, so that the build is
    // reproducible.
    let here = env::var("CARGO_MANIFEST_DIR")?;
    let mut builder = libbpf_cargo::SkeletonBuilder::new();
    builder.source("../bpf/profinfer.bpf.c").clang_args([
        "-I../bpf",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-mcpu=v3",
        &format!("-ffile-prefix-map={here}=agent-static"),
        &cpu_guid(&catalog)?,
    ]);
    if let Some(clang) = env::var_os("BPF_CLANG") {
        builder.clang(clang);
    }
    let object = out.join("profinfer.bpf.o");
    builder.obj(&object).build()?;
    let compiled = std::fs::read(&object)?;
    stacks_fit(&compiled)?;
    std::fs::write(&object, without_lines(&compiled)?)?;
    builder.generate(out.join("profinfer.skel.rs"))?;
    println!("cargo:rerun-if-changed=../bpf");
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
    plans(&catalog, &out.join("plans.rs"))?;
    backend_functions(&catalog, &out.join("backend_functions.rs"))?;
    backend_guids(&catalog, &out.join("backend_guids.rs"))?;
    other_backend_guids(&catalog, &out.join("other_backend_guids.rs"))?;
    without_unwinding()
}

/// Removes what nobody reads: labels, and the line information of the programs, of which libbpf keeps
/// a copy for each program that calls a function: 250 kB of the agent's memory. The verifier's messages
/// then have no line numbers.
fn without_lines(object: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    // struct btf_ext_header (libbpf): the offsets count from the end of the header.
    const HEADER_LEN: usize = 4;
    const LINES_OFFSET: usize = 16;
    const LINES_LEN: usize = 20;
    const RELOCATIONS_LEN: usize = 28;
    let mut elf = Builder::read(object)?;
    let section = elf.sections.iter_mut().find(|s| s.name.as_slice() == b".BTF.ext");
    let SectionData::Data(ext) = &mut section.ok_or("the object has no .BTF.ext")?.data else {
        return Err(".BTF.ext has no bytes".into());
    };
    let mut bytes = ext.to_vec();
    let word = |at: usize| {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(".BTF.ext is too short")?;
        Ok::<_, Box<dyn Error>>(usize::try_from(u32::from_ne_bytes(*word))?)
    };
    let (end, lines) = (word(HEADER_LEN)? + word(LINES_OFFSET)?, word(LINES_LEN)?);
    if word(RELOCATIONS_LEN)? != 0 || end + lines != bytes.len() {
        return Err("line information is not the end of .BTF.ext".into());
    }
    bytes.truncate(end);
    bytes[LINES_LEN..LINES_LEN + 4].fill(0);
    *ext = bytes.into();
    // The labels inside functions, to which nothing refers.
    for symbol in &mut elf.symbols {
        symbol.delete |= symbol.name.as_slice().starts_with(b"LBB");
    }
    // libbpf's linker keeps the names of sections and of symbols in one section, `object` in two.
    let names = elf.sections.add();
    names.name = b".shstrtab".as_slice().into();
    names.sh_type = object::elf::SHT_STRTAB;
    names.data = SectionData::SectionString;
    let mut out = Vec::new();
    elf.write(&mut out)?;
    Ok(out)
}

/// Drops the unwind tables from the static release agent, which saves 200 kB. It aborts on a panic
/// (`panic` in the profile, which cargo does not pass to build scripts), so nothing reads them.
fn without_unwinding() -> Result<(), Box<dyn Error>> {
    let script = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../ci/static/no-unwinding.ld");
    println!("cargo:rerun-if-changed={}", script.display());
    if env::var("CARGO_CFG_TARGET_ENV")? == "musl" && env::var("PROFILE")? == "release" {
        println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    }
    Ok(())
}

/// Rejects programs if a kernel could put the stack of one of their functions where other tasks
/// write. See `bpf/include/maps.h`.
fn stacks_fit(object: &[u8]) -> Result<(), Box<dyn Error>> {
    let elf = goblin::elf::Elf::parse(object)?;
    let mut deep = Vec::new();
    for function in elf.syms.iter().filter(|s| s.st_type() == goblin::elf::sym::STT_FUNC) {
        let section = elf.section_headers.get(function.st_shndx).ok_or("a function has a section")?;
        let begin = usize::try_from(section.sh_offset + function.st_value)?;
        let code = object
            .get(begin..begin + usize::try_from(function.st_size)?)
            .ok_or("a function's code is in the file")?;
        let code: Vec<stack::Insn> = code.as_chunks().0.iter().map(|b| stack::Insn::read(*b)).collect();
        let depth = stack::depth(&code);
        if depth > stack::STACK_MAX {
            deep.push(format!("{} uses {depth}", elf.strtab.get_at(function.st_name).unwrap_or("?")));
        }
    }
    if deep.is_empty() {
        return Ok(());
    }
    let (most, deep) = (stack::STACK_MAX, deep.join(", "));
    Err(format!("a BPF function may use at most {most} bytes of stack, but {deep}. Split it with __noinline, or use the thread's state").into())
}

/// The first four bytes of the CPU backend's GUID, which distinguish its splits from those of other
/// backends.
fn cpu_guid(catalog: &Catalog) -> Result<String, Box<dyn Error>> {
    let cpu = catalog.backends().find(|b| b.name == "cpu").and_then(Backend::first_guid_bytes);
    Ok(format!("-DCPU_GUID={:#x}U", u32::from_le_bytes(cpu.ok_or("the CPU's backend has a GUID")?)))
}

/// The first four bytes of every GUID, with the backend's title.
fn backend_guids(catalog: &Catalog, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = "&[\n".to_owned();
    for backend in catalog.backends() {
        if let Some(first) = backend.first_guid_bytes::<4>() {
            writeln!(text, "({first:?}, {:?}),", backend.title())?;
        }
    }
    text.push(']');
    Ok(std::fs::write(path, text)?)
}

/// The GUIDs of all backends but the CPU's, as `&[[u8; 16]]`.
fn other_backend_guids(catalog: &Catalog, path: &Path) -> Result<(), Box<dyn Error>> {
    let others = catalog.backends().filter(|b| b.name != "cpu");
    let guids: Vec<_> = others.filter_map(Backend::first_guid_bytes::<16>).collect();
    Ok(std::fs::write(path, format!("&{guids:?}"))?)
}

/// The functions of backends that are operators or work for them, as `&[Function]` for
/// `bpf/backend_function.rs`.
fn backend_functions(catalog: &Catalog, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = "&[\n".to_owned();
    for backend in catalog.backends() {
        for probe in backend.probes().filter(|p| p.level == Level::Op) {
            let (symbol, tensor, whole) = (&probe.symbol, probe.tensor, probe.whole);
            writeln!(
                text,
                "Function {{ symbol: {symbol:?}, backend: {:?}, tensor: {tensor:?}, whole: {whole} }},",
                backend.title()
            )?;
        }
    }
    text.push(']');
    Ok(std::fs::write(path, text)?)
}

/// The boards as `&[Board]` for `request/boards.rs`. A changed profile rebuilds its crate, and
/// therefore this file.
fn plans(catalog: &Catalog, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = "&[\n".to_owned();
    for board in catalog.boards() {
        board_plan(&mut text, board)?;
    }
    text.push(']');
    Ok(std::fs::write(path, text)?)
}

fn gauge(w: &GaugeRequest<'_>) -> String {
    let source = match w.source {
        GaugeSource::File { path, parse } => {
            format!("control::GaugeSource::File {{ path: {path:?}, parse: GaugeParse::{parse:?} }}")
        }
        GaugeSource::Pmu { pmu, event } => {
            format!("control::GaugeSource::Pmu {{ pmu: {pmu:?}, event: {event:?} }}")
        }
    };
    format!(
        "control::GaugeRequest {{ name: {:?}, kind: GaugeKind::{:?}, unit: GaugeUnit::{:?}, source: {source}, period_ms: 0 }}",
        w.name, w.kind, w.unit
    )
}

fn board_plan(text: &mut String, board: &Board) -> Result<(), Box<dyn Error>> {
    let names: Vec<&String> = board.aliases.iter().chain(&board.models).collect();
    writeln!(
        text,
        "Board {{ name: {:?}, other_names: &{names:?}, machine: {:?}, levels: {:?}, sets: &[",
        board.name,
        board.machine,
        board.levels.join(",")
    )?;
    let names: Vec<Option<&str>> = match board.set_names() {
        none if none.is_empty() => vec![None],
        names => names.into_iter().map(Some).collect(),
    };
    for name in names {
        writeln!(text, "  Set {{ name: {:?}, counters: &[", name.unwrap_or("default"))?;
        for PlannedCounter { name, event, midr } in board.counter_plan(name)? {
            writeln!(text, "    ({name:?}, {event:#x}, {midr:#x}),")?;
        }
        writeln!(text, "  ] }},")?;
    }
    writeln!(text, "], gauges: &[")?;
    for request in board.gauge_plan(0) {
        writeln!(text, "  {},", gauge(&request))?;
    }
    writeln!(text, "] }},")?;
    Ok(())
}
