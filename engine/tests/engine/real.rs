//! Real engines' libraries, with binutils as the second opinion.
//!
//! `scripts/test.sh` sets the engines in the environment; without its variable a test reports a
//! skip.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use profinfer_engine::{
    DirectRole, EnginePlan, Image, Origin, ProbeKind, Site, examine, is_engine_part, library_event_site,
};

use crate::oracle::{self, Line};

/// Libraries of the engine whose launchers are in the folder that the variable names.
pub(crate) fn libraries(variable: &str) -> Option<Vec<PathBuf>> {
    let bin = profinfer_skip::needed_path(variable, "scripts/test.sh")?;
    let mut found = BTreeSet::new();
    for folder in ["exe", "root/usr/lib/x86_64-linux-gnu", "root/usr/lib/x86_64-linux-gnu/ggml/backends0"] {
        let Ok(entries) = std::fs::read_dir(bin.join("..").join(folder)) else { continue };
        for entry in entries.flatten() {
            let path = entry.path().canonicalize().expect("it is there");
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains(".so") && ["libggml", "libllama", "ld-linux"].iter().any(|p| name.starts_with(p))
            {
                found.insert(path);
            }
        }
    }
    assert!(!found.is_empty(), "{variable}={}: no libraries of an engine beside it", bin.display());
    Some(found.into_iter().collect())
}

/// An engine's libraries, and the agent's result for them.
struct Engine {
    files: Vec<PathBuf>,
    plan: EnginePlan,
}

fn engine(variable: &str) -> Option<Engine> {
    let files = libraries(variable)?;
    let bytes: Vec<_> = files.iter().map(|f| std::fs::read(f).expect("readable")).collect();
    let named = files.iter().map(|f| f.display().to_string()).zip(&bytes);
    let images: Vec<_> = named.map(|(path, b)| Image::parse(&path, b).expect("an ELF file")).collect();
    let plan = examine(&images, &[]);
    Some(Engine { files, plan })
}

impl Engine {
    fn sites(&self, kind: ProbeKind) -> impl Iterator<Item = (&Site, &Path)> {
        let sites = self.plan.sites.iter().filter(move |s| s.kind == kind);
        sites.map(|s| (s, self.files[s.file].as_path()))
    }

    /// The CPU backends, one per kind of processor, or the one library of old builds.
    fn cpu_files(&self) -> BTreeSet<usize> {
        let name = |f: &PathBuf| f.file_name().expect("a file").to_string_lossy().into_owned();
        let split = self.files.iter().any(|f| name(f).starts_with("libggml-cpu"));
        let wanted = if split { "libggml-cpu" } else { "libggml.so" };
        (0..self.files.len()).filter(|n| name(&self.files[*n]).starts_with(wanted)).collect()
    }

    fn has_one_in_each(&self, kind: ProbeKind) {
        let found: Vec<_> = self.sites(kind).map(|(s, _)| s.file).collect();
        assert_eq!(found, self.cpu_files().into_iter().collect::<Vec<_>>(), "{kind:?}");
    }
}

/// The instruction at a site, and whether `emulated` is right for it.
fn at(site: &Site, file: &Path) -> Line {
    let address = oracle::address(&oracle::segments(file), site.offset);
    let line = oracle::disassemble(file, address, address + 16).into_iter().next().expect("an instruction");
    assert_eq!(line.address, address);
    assert_eq!(site.mnemonic, line.mnemonic, "{line:?}");
    let emulated = line.mnemonic == "push" || line.mnemonic == "call" || line.mnemonic.starts_with('j');
    assert_eq!(site.emulated, emulated, "{line:?}");
    line
}

/// Nothing that a probe reads may change between a function's first instruction and the probed one.
fn entry_is_untouched(site: &Site, file: &Path) {
    let (start, _) = oracle::symbols(file)[&site.symbol];
    let address = oracle::address(&oracle::segments(file), site.offset);
    assert!((start..start + 48).contains(&address), "{site:?}");
    for line in oracle::disassemble(file, start, address.max(start + 1)) {
        if line.address == address {
            continue;
        }
        let harmless = ["endbr64", "mov", "test", "cmp", "lea", "xor", "movabs", "nop", "movzwl", "movzbl"];
        let untouched = ["rdi", "edi", "rsi", "esi", "rdx", "edx", "rcx", "ecx", "r8", "r8d", "rsp"];
        let compares = ["test", "cmp"].iter().any(|m| line.mnemonic.starts_with(m));
        let written = if compares { "" } else { line.operands.rsplit(',').next().unwrap_or_default() };
        assert!(harmless.iter().any(|m| line.mnemonic.starts_with(m)), "{line:?} before {site:?}");
        assert!(!untouched.iter().any(|r| written == format!("%{r}")), "{line:?} before {site:?}");
    }
}

/// Functions that every engine has once.
const ONCE: [ProbeKind; 7] = [
    ProbeKind::LlamaDecode,
    ProbeKind::SequenceCut,
    ProbeKind::SequenceCopy,
    ProbeKind::MemoryClear,
    ProbeKind::SaveState,
    ProbeKind::RestoreState,
    ProbeKind::AllocateGraph,
];

fn functions_are_probed_at_their_entry(engine: &Engine) {
    for kind in ONCE.into_iter().chain([
        ProbeKind::LlamaProcess,
        ProbeKind::LlamaEncode,
        ProbeKind::OutputTaken,
        ProbeKind::OutputsTaken,
        ProbeKind::SchedulerGraph,
        ProbeKind::CpuGraph,
    ]) {
        for (site, file) in engine.sites(kind) {
            at(site, file);
            // Of an allocation only the times are read.
            if kind != ProbeKind::AllocateGraph {
                entry_is_untouched(site, file);
            }
        }
    }
    for kind in ONCE {
        assert_eq!(engine.sites(kind).count(), 1, "{kind:?}");
    }
    // Logits and embeddings of a token, embeddings of a sequence; of the current engine, a sampled token too.
    assert!((3..=4).contains(&engine.sites(ProbeKind::OutputTaken).count()));
    assert_eq!(engine.sites(ProbeKind::OutputsTaken).count(), 2);
    assert_eq!(engine.sites(ProbeKind::SchedulerGraph).count(), 1);
    engine.has_one_in_each(ProbeKind::CpuGraph);
}

/// Sizes of the arrays, where the file still has their names.
fn tables_have_the_length_of_their_symbols(engine: &Engine) {
    let base = engine.files.iter().map(|f| oracle::symbols(f)).find(|s| s.contains_key("GGML_OP_NAME"));
    let symbols = base.expect("an unstripped engine");
    let tables = &engine.plan.tables;
    assert_eq!(tables.ops.len() as u64, symbols["GGML_OP_NAME"].1 / 8);
    assert_eq!(tables.unary.len() as u64, symbols["GGML_UNARY_OP_NAME"].1 / 8);
}

#[test]
fn current_engine_has_starts_and_ends_of_operators() {
    let Some(engine) = engine("PROFINFER_ENGINE_DIR") else { return };
    functions_are_probed_at_their_entry(&engine);
    assert_eq!(engine.plan.missing, [], "nothing is missing in a current engine");
    engine.has_one_in_each(ProbeKind::OpStart);
    engine.has_one_in_each(ProbeKind::OpFused);
    engine.has_one_in_each(ProbeKind::OpEnd);
    for (site, file) in engine.sites(ProbeKind::OpStart).chain(engine.sites(ProbeKind::OpFused)) {
        let line = at(site, file);
        assert_eq!(line.mnemonic, "call");
        assert!(line.operands.contains(&format!("<{}@plt>", site.symbol)), "{line:?}");
    }
    for (site, file) in engine.sites(ProbeKind::OpEnd) {
        let line = at(site, file);
        assert!(line.mnemonic.starts_with('j') && line.mnemonic != "jmp", "{line:?}");
        // Of all jumps nearby, by far the most go to the place shortly before the end.
        let mut jumps: BTreeMap<u64, u32> = BTreeMap::new();
        for line in oracle::disassemble(file, line.address - 0x2000, line.address + 0x4000) {
            let target = line.operands.split(' ').next().and_then(|t| u64::from_str_radix(t, 16).ok());
            if let Some(target) = target.filter(|_| line.mnemonic.starts_with('j')) {
                *jumps.entry(target).or_insert(0) += 1;
            }
        }
        let (join, count) = jumps.into_iter().max_by_key(|(_, count)| *count).expect("jumps");
        assert!(
            (join..join + 24).contains(&line.address) && count > 80,
            "{line:?}: {count} jumps to {join:#x}"
        );
    }
}

/// Every place is one instruction according to binutils, and no jump that they see leads past its
/// first byte.
fn direct_places_are_whole_instructions(variable: &str, wanted: fn(&DirectRole) -> bool) {
    let Some(engine) = engine(variable) else { return };
    for number in engine.cpu_files() {
        let (file, found) = (&engine.files[number], engine.plan.files[number].direct.as_ref());
        let direct = found.expect("operators").as_ref().unwrap_or_else(|reason| panic!("{reason:?}"));
        assert!(direct.places.iter().any(|p| wanted(&p.role)), "{direct:?}");
        for place in &direct.places {
            let behind = place.address + place.bytes.len() as u64;
            let lines = oracle::disassemble(file, place.address, behind + 16);
            assert_eq!((lines[0].address, lines[1].address), (place.address, behind), "{}", file.display());
            assert_eq!(lines[0].mnemonic == "call", place.role != DirectRole::End, "{:?}", lines[0]);
            for line in oracle::disassemble(file, place.address - 0x4000, place.address + 0x4000) {
                let target = line.operands.split(' ').next().and_then(|t| u64::from_str_radix(t, 16).ok());
                let target = target.filter(|_| line.mnemonic.starts_with('j') || line.mnemonic == "call");
                assert!(target.is_none_or(|t| t <= place.address || behind <= t), "{line:?} and {place:?}");
            }
        }
    }
}

#[test]
fn direct_probes_have_places_in_all_engines() {
    direct_places_are_whole_instructions("PROFINFER_ENGINE_DIR", |role| *role == DirectRole::End);
    for variable in ["PROFINFER_MID_ENGINE_DIR", "PROFINFER_OLD_ENGINE_DIR"] {
        direct_places_are_whole_instructions(variable, |role| matches!(role, DirectRole::Whole { .. }));
    }
}

#[test]
fn current_engine_has_names_and_a_layout() {
    let Some(engine) = engine("PROFINFER_ENGINE_DIR") else { return };
    let tables = &engine.plan.tables;
    let op = |name: &str| tables.ops.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(op("MUL_MAT_ID"), op("MUL_MAT") + 1);
    assert!(op("UNARY") > op("ROPE") && tables.ops.last().is_some_and(|last| last == "GLU"));
    assert!(["SILU", "GELU", "EXP"].iter().all(|name| tables.unary.iter().any(|n| n == name)));
    assert_eq!(tables.glu[2], "SWIGLU");
    let of =
        |name: &str| tables.types.iter().find(|t| t.name == name).map(|t| (t.block_elements, t.block_bytes));
    assert_eq!((of("q4_K"), of("q8_0"), of("i32")), (Some((256, 144)), Some((32, 34)), Some((1, 4))));
    let layout = engine.plan.layout().expect("a layout");
    assert_eq!((layout.tensor_name, layout.tensor_src, layout.graph_uid), (256, 152, Some(88)));
    let offsets = &engine.plan.layout.as_ref().expect("a layout").offsets;
    assert!(offsets.iter().all(|o| matches!(o.origin, Origin::Accessor(_))), "{offsets:?}");
    assert!(engine.plan.version.contains("ggml "), "{}", engine.plan.version);
}

#[test]
fn engines_of_the_middle_and_old_have_a_function_for_operators() {
    for (variable, name, uid) in
        [("PROFINFER_MID_ENGINE_DIR", 256, None), ("PROFINFER_OLD_ENGINE_DIR", 264, None)]
    {
        let Some(engine) = engine(variable) else { continue };
        functions_are_probed_at_their_entry(&engine);
        tables_have_the_length_of_their_symbols(&engine);
        assert_eq!(engine.plan.missing, []);
        engine.has_one_in_each(ProbeKind::OpFunction);
        for (site, file) in engine.sites(ProbeKind::OpFunction) {
            assert_eq!(site.symbol, "ggml_compute_forward");
            at(site, file);
            entry_is_untouched(site, file);
        }
        assert_eq!(engine.sites(ProbeKind::OpStart).count() + engine.sites(ProbeKind::OpEnd).count(), 0);
        let layout = engine.plan.layout().expect("a layout");
        assert_eq!((layout.tensor_name, layout.graph_uid), (name, uid));
    }
}

/// Sites found once by other means (a Python program over pyelftools and capstone), by build id.
const KNOWN: [(&str, &[(ProbeKind, u64)]); 6] = [
    (
        "285f2394ed1baef30ee82aadf1b911d22e89444e",
        &[(ProbeKind::OpFunction, 0x42c70), (ProbeKind::CpuGraph, 0x4cbb4)],
    ),
    ("e795c832531cc1f3fea6142e1e1767e865b56058", &[(ProbeKind::CpuGraph, 0x36514)]),
    (
        "665efb26f9b936f8a825f07037471034e1a1a9cd",
        &[
            (ProbeKind::OpStart, 0x192ec),
            (ProbeKind::OpFused, 0x19576),
            (ProbeKind::OpEnd, 0x19230),
            (ProbeKind::CpuGraph, 0x1b764),
        ],
    ),
    (
        "ab9a11ec2257858486269dcbfac37db0631fa5b3",
        &[
            (ProbeKind::OpStart, 0x18fbc),
            (ProbeKind::OpFused, 0x191f6),
            (ProbeKind::OpEnd, 0x18f00),
            (ProbeKind::CpuGraph, 0x1b454),
        ],
    ),
    (
        "ae10b9012413bca38f8976586823c35e66a17bd8",
        &[
            (ProbeKind::OpStart, 0x18f0c),
            (ProbeKind::OpFused, 0x19141),
            (ProbeKind::OpEnd, 0x18e50),
            (ProbeKind::CpuGraph, 0x1b2a4),
        ],
    ),
    ("d91adf3f952fc7dee70bd4e104ca854b799674ba", &[(ProbeKind::LlamaProcess, 0x21_0506)]),
];

#[test]
fn known_builds_have_the_known_sites() {
    for variable in ["PROFINFER_ENGINE_DIR", "PROFINFER_MID_ENGINE_DIR", "PROFINFER_OLD_ENGINE_DIR"] {
        let Some(engine) = engine(variable) else { continue };
        for (number, file) in engine.files.iter().enumerate() {
            let id = oracle::build_id(file);
            let found: String =
                engine.plan.files[number].build_id.iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(found, id, "{}", file.display());
            for (kind, offset) in
                KNOWN.iter().find(|(known, _)| *known == id).map_or(&[][..], |(_, sites)| sites)
            {
                let sites: Vec<_> =
                    engine.sites(*kind).filter(|(s, _)| s.file == number).map(|(s, _)| s.offset).collect();
                assert_eq!(sites, [*offset], "{kind:?} in {}", file.display());
            }
        }
    }
}

#[test]
fn the_dynamic_linker_and_the_engine_are_told_apart() {
    let Some(files) = libraries("PROFINFER_ENGINE_DIR") else { return };
    for file in files {
        let name = file.file_name().expect("a file").to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).expect("readable");
        let image = Image::parse(&name, &bytes).expect("an ELF file");
        let event = oracle::symbols(&file).get("_dl_debug_state").map(|(address, _)| *address);
        let segments = oracle::segments(&file);
        assert_eq!(
            library_event_site(&image).map(|offset| oracle::address(&segments, offset)),
            event,
            "{name}"
        );
        assert_eq!(event.is_some(), name.starts_with("ld-linux"), "{name}");
        let part = ["libllama.so", "libggml-base", "libggml-cpu"].iter().any(|p| name.starts_with(p));
        assert_eq!(is_engine_part(&image, &[]), part, "{name}");
    }
}
