//! Puts together what the files of a process say into one plan.

use super::calls::Calls;
use super::elf::Image;
use super::names::Names;
use super::operators::{self, describe_entry};
use super::relocs::Relocations;
use super::{EnginePlan, FileFindings, Mark, Missing, Site, entry, layout, note, tables, uid, version};

/// Functions whose entry and return are probed.
const FUNCTIONS: [(Mark, &[&str]); 5] = [
    (Mark::LlamaDecode, &["llama_decode"]),
    (Mark::LlamaProcess, &["llama_process"]),
    (Mark::LlamaEncode, &["llama_encode"]),
    // The first one that is there: the second one calls it.
    (Mark::SchedulerGraph, &["ggml_backend_sched_graph_compute_async", "ggml_backend_sched_graph_compute"]),
    (Mark::CpuGraph, &["ggml_graph_compute"]),
];

/// Whether a file has something to say: a function that is probed, an accessor or a table.
///
/// Cheap for files that have not: it looks at names of symbols, then at pointers to strings.
#[must_use]
pub fn is_engine_part(image: &Image<'_>) -> bool {
    let names = Names::read(image);
    is_part(image, &names, || tables::read(image, &Relocations::read(image)).ops.len() > 1)
}

fn is_part(image: &Image<'_>, names: &Names<'_>, has_table: impl FnOnce() -> bool) -> bool {
    let known = |name: &str| names.get(name).is_some_and(|s| image.is_code(s.address));
    let functions = FUNCTIONS.iter().flat_map(|(_, names)| names.iter());
    functions.copied().any(known) || known(super::dispatch::START) || known("ggml_get_name") || has_table()
}

/// File offset of the function that the dynamic linker calls when the list of loaded libraries changes
/// (`r_brk` of `struct r_debug`); only a dynamic linker has one.
#[must_use]
pub fn library_event_site(image: &Image<'_>) -> Option<u64> {
    let event = image.symbols().find(|s| s.name == "_dl_debug_state" && image.is_code(s.address))?;
    image.file_offset(event.address)
}

/// Makes a plan from the files that a process maps, in any order.
#[must_use]
pub fn examine(files: &[Image<'_>]) -> EnginePlan {
    let mut plan =
        EnginePlan { layout_note: "no file defines ggml_get_name".into(), ..EnginePlan::default() };
    let names: Vec<_> = files.iter().map(Names::read).collect();
    for (image, names) in files.iter().zip(&names) {
        plan.read_base(image, names);
    }
    for (file, (image, names)) in files.iter().zip(&names).enumerate() {
        let role = plan.read_sites(file, image, names);
        let build_id = note::build_id(image).unwrap_or_default().to_vec();
        plan.files.push(FileFindings { role, build_id });
    }
    plan.miss();
    plan
}

impl EnginePlan {
    /// Layout, names and version: the first file that has them says it for all.
    fn read_base(&mut self, image: &Image<'_>, names: &Names<'_>) {
        let accessors = names.get("ggml_get_name").is_some_and(|s| image.is_code(s.address));
        if self.layout.is_none() && accessors {
            match layout::read(image, names) {
                Ok((mut layout, note)) => {
                    let relocations = Relocations::read(image);
                    layout.graph_uid = uid::offset(&Calls { image, names, relocations: &relocations });
                    self.layout = Some(layout);
                    self.layout_note = note;
                }
                Err(reason) => self.layout_note = reason,
            }
        }
        if self.tables.ops.is_empty() && (accessors || names.is_empty()) {
            let found = tables::read(image, &Relocations::read(image));
            if !found.ops.is_empty() {
                self.tables = found;
            }
        }
        if self.version.is_empty() {
            self.version = version::read(image, names);
        }
    }

    /// Sites in one file; returns its role.
    fn read_sites(&mut self, file: usize, image: &Image<'_>, names: &Names<'_>) -> String {
        let mut roles = Vec::new();
        for (mark, wanted) in FUNCTIONS {
            let Some(symbol) = wanted.iter().find_map(|n| names.get(n)).filter(|s| image.is_code(s.address))
            else {
                continue;
            };
            let Some(entry) = entry::entry(image, symbol.address, symbol.size) else { continue };
            let Some(offset) = image.file_offset(entry.address) else { continue };
            let note = describe_entry(&entry, &symbol);
            self.sites.push(Site { mark, file, offset, symbol: symbol.name.to_owned(), note });
            roles.push(match mark {
                Mark::LlamaDecode | Mark::LlamaProcess | Mark::LlamaEncode => "token",
                Mark::SchedulerGraph => "graph",
                _ => "CPU graph",
            });
        }
        if names.get("ggml_graph_compute").or_else(|| names.get(super::dispatch::START)).is_some() {
            let relocations = Relocations::read(image);
            let calls = Calls { image, names, relocations: &relocations };
            let found = operators::find(&calls, file, self.layout.as_ref());
            if !found.sites.is_empty() {
                roles.push("CPU operators");
            }
            self.sites.extend(found.sites);
            self.missing.extend(found.missing);
        }
        if names.get("ggml_get_name").is_some() {
            roles.push("names and layout");
        }
        roles.dedup();
        roles.join(", ")
    }

    /// Notes levels that nothing was found for.
    fn miss(&mut self) {
        let has = |marks: &[Mark]| self.sites.iter().any(|s| marks.contains(&s.mark));
        let mut missing = Vec::new();
        let mut miss = |mark, symbol: &str, reason: &str| {
            missing.push(Missing { mark, symbol: symbol.into(), reason: reason.into() });
        };
        if !has(&[Mark::LlamaDecode, Mark::LlamaProcess]) {
            let reason =
                "no file defines llama_decode or llama_process: not llama.cpp, or its symbols are stripped";
            miss(Mark::LlamaDecode, "llama_decode", reason);
        }
        if !has(&[Mark::SchedulerGraph]) {
            let reason = "no file defines it: GGML's base library is not loaded, or its symbols are stripped";
            miss(Mark::SchedulerGraph, "ggml_backend_sched_graph_compute_async", reason);
        }
        if !has(&[Mark::CpuGraph]) {
            let reason = "no file defines it: the CPU backend is not loaded, or its symbols are stripped";
            miss(Mark::CpuGraph, "ggml_graph_compute", reason);
            if self.missing.is_empty() && !has(&[Mark::OpStart, Mark::OpFunction]) {
                miss(Mark::OpStart, super::dispatch::START, reason);
            }
        }
        self.missing.extend(missing);
    }
}
