//! Puts together what the files of a process say into one plan.

use super::backend::Handover;
use super::calls::Calls;
use super::elf::Image;
use super::entry::Stack;
use super::operators::{self, cost, describe_entry};
use super::{
    EnginePlan, FileFindings, Mark, Missing, Site, backend, backend_function, code, dispatch, entry, layout,
    messages, nameless, note, tables, uid, version,
};

/// Functions whose entry and return are probed.
const FUNCTIONS: [(Mark, &[&str]); 6] = [
    (Mark::LlamaDecode, &["llama_decode"]),
    (Mark::LlamaProcess, &["llama_process"]),
    (Mark::LlamaEncode, &["llama_encode"]),
    // The first one that is there: the second one calls it.
    (Mark::SchedulerGraph, &["ggml_backend_sched_graph_compute_async", "ggml_backend_sched_graph_compute"]),
    (Mark::CpuGraph, &["ggml_graph_compute"]),
    (Mark::BackendGraph, &[backend::FUNCTION]),
];

/// The accessor that tells the layout apart; where it is, the other accessors and the names are.
const ACCESSOR: &str = "ggml_get_name";

/// Whether a file has something to say: a function that is probed, an accessor or a table.
///
/// Cheap for files that have not: it looks at names of symbols, then at pointers to strings.
#[must_use]
pub fn is_engine_part(image: &Image<'_>) -> bool {
    let calls = Calls::new(image);
    let functions = FUNCTIONS.iter().flat_map(|(_, names)| names.iter());
    let known = functions.chain([&dispatch::START, &ACCESSOR]).any(|name| calls.function(name).is_some());
    known
        || backend_function::in_file(&calls)
        || (tables::may_be_in(image) && !tables::read(&calls).ops.is_empty())
}

/// File offset of the function that the dynamic linker calls when the list of loaded libraries changes
/// (`r_brk` of `struct r_debug`); only a dynamic linker has one.
#[must_use]
pub fn library_event_site(image: &Image<'_>) -> Option<u64> {
    let event = image.symbols().find(|s| s.name == "_dl_debug_state" && image.is_code(s.address))?;
    image.file_offset(event.address)
}

/// The functions of GGML and llama.cpp that would be known in the file if it named none: name and address. For those who hold
/// them against the names of a file that has them.
#[must_use]
pub fn unnamed_functions(image: &Image<'_>) -> Vec<(&'static str, u64)> {
    let calls = Calls::new(image);
    let mut found = messages::find(&calls);
    found.extend(nameless::functions(&calls, tables::read(&calls).ops.len()));
    found.into_iter().map(|f| (f.symbol.name, f.symbol.address)).collect()
}

/// Makes a plan from the files that a process maps, in any order.
#[must_use]
pub fn examine(files: &[Image<'_>]) -> EnginePlan {
    let mut calls: Vec<_> = files.iter().map(Calls::new).collect();
    let mut plan = EnginePlan::default();
    plan.read_layout(&calls);
    plan.read_tables(&calls);
    for calls in calls.iter_mut().filter(|c| c.unnamed) {
        for found in nameless::functions(calls, plan.tables.ops.len()) {
            calls.names.add(found);
        }
    }
    plan.read_version(&calls);
    for (file, calls) in calls.iter().enumerate() {
        let role = plan.read_sites(file, calls);
        let build_id = note::build_id(calls.image).unwrap_or_default().to_vec();
        plan.files.push(FileFindings { role, build_id });
    }
    plan.miss(calls.iter().any(|c| c.unnamed && !tables::read(c).ops.is_empty()));
    plan
}

impl EnginePlan {
    /// The layout: the first file with accessors says it for all.
    fn read_layout(&mut self, files: &[Calls<'_, '_>]) {
        let with = |name: &str| files.iter().find(|c| c.function(name).is_some());
        let Some(calls) = with(ACCESSOR).or_else(|| with(layout::ALLOCATES)) else {
            self.layout_note =
                format!("no file defines {ACCESSOR}: GGML's base library is not loaded, or stripped");
            return;
        };
        match layout::read(calls) {
            Ok(mut found) => {
                found.layout.graph_uid = uid::offset(calls);
                self.layout = Some(found.layout);
                self.layout_note = found.note;
                self.offsets = found.fields;
            }
            Err(reason) => self.layout_note = reason,
        }
    }

    /// Names: from where the accessors are, else from any file.
    fn read_tables(&mut self, files: &[Calls<'_, '_>]) {
        let mut files: Vec<_> = files.iter().collect();
        files.sort_by_key(|c| c.function(ACCESSOR).is_none());
        let found = files.into_iter().map(tables::read).find(|t| !t.ops.is_empty());
        self.tables = found.unwrap_or_default();
    }

    fn read_version(&mut self, files: &[Calls<'_, '_>]) {
        let parts = [files.iter().find_map(version::llama), files.iter().find_map(version::ggml)];
        self.version = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    }

    /// Sites in one file; returns its role.
    fn read_sites(&mut self, file: usize, calls: &Calls<'_, '_>) -> String {
        let mut roles = Vec::new();
        for (mark, wanted) in FUNCTIONS {
            let mut site = wanted.iter().find_map(|name| function_site(calls, file, mark, name));
            if mark == Mark::BackendGraph {
                site = site.and_then(|site| self.handover(calls, site));
            }
            roles.extend(site.is_some().then_some(match mark {
                Mark::LlamaDecode | Mark::LlamaProcess | Mark::LlamaEncode => "token",
                Mark::SchedulerGraph | Mark::BackendGraph => "graph",
                _ => "CPU graph",
            }));
            self.sites.extend(site);
        }
        if roles.contains(&"CPU graph") || calls.function(dispatch::START).is_some() {
            let found = operators::find(calls, file, self.layout.as_ref(), self.tables.ops.len());
            roles.extend((!found.sites.is_empty()).then_some("CPU operators"));
            self.sites.extend(found.sites);
            self.missing.extend(found.missing);
        }
        let (sites, missing) = backend_function::find(calls, file);
        roles.extend((!sites.is_empty()).then_some("functions of backends"));
        self.sites.extend(sites);
        self.missing.extend(missing);
        roles.extend(calls.function(ACCESSOR).map(|_| "names and layout"));
        roles.dedup();
        roles.join(", ")
    }

    /// Adds the places where the scheduler calls backends itself; the function's own site stays if it is called too.
    fn handover(&mut self, calls: &Calls<'_, '_>, function: Site) -> Option<Site> {
        let (found, offset, called) = match backend::handover(calls) {
            None | Some(Handover::Called) => return Some(function),
            Some(Handover::Unseen(reason)) => {
                self.missing.push(Missing { mark: Mark::BackendGraph, symbol: function.symbol, reason });
                return None;
            }
            Some(Handover::Inlined { sites, offset, called }) => (sites, offset, called),
        };
        for i in found {
            let Some(at) = calls.image.file_offset(i.address) else { continue };
            let mnemonic = code::mnemonic(calls.image, &i);
            let note = format!(
                "inlined into the scheduler: `{mnemonic}` through offset {offset} of the backend; {}",
                cost(i.emulated)
            );
            self.sites.push(Site { offset: at, note, ..function.clone() });
        }
        (called > 0).then_some(function)
    }

    /// Notes levels that nothing was found for; `unnamed` says that a file is the engine and names nothing.
    fn miss(&mut self, unnamed: bool) {
        let has = |marks: &[Mark]| self.sites.iter().any(|s| marks.contains(&s.mark));
        let mut missing = Vec::new();
        let mut miss = |mark, symbol: &str, reason: &str| {
            let mut reason = if unnamed { messages::why_not(symbol) } else { reason.into() };
            if unnamed && mark == Mark::LlamaDecode {
                reason += "; a program on GGML other than llama.cpp has no token level";
            }
            missing.push(Missing { mark, symbol: symbol.into(), reason });
        };
        if !has(&[Mark::LlamaDecode, Mark::LlamaProcess]) {
            let reason = "no file defines llama_decode or llama_process: a program on GGML other than llama.cpp, which has no \
                 token level, or its symbols are stripped";
            miss(Mark::LlamaDecode, "llama_decode", reason);
        }
        if !has(&[Mark::SchedulerGraph]) {
            let reason = "no file defines it: GGML's base library is not loaded, or its symbols are stripped";
            miss(Mark::SchedulerGraph, "ggml_backend_sched_graph_compute_async", reason);
        }
        if unnamed && !has(&[Mark::BackendGraph]) {
            miss(Mark::BackendGraph, backend::FUNCTION, "");
        }
        if !has(&[Mark::CpuGraph]) {
            let reason = "no file defines it: the CPU backend is not loaded, or its symbols are stripped";
            miss(Mark::CpuGraph, messages::GRAPH, reason);
            if self.missing.iter().all(|m| m.mark.backend_function().is_some())
                && !has(&[Mark::OpStart, Mark::OpFunction])
            {
                miss(Mark::OpStart, dispatch::START, reason);
            }
        }
        self.missing.extend(missing);
    }
}

fn function_site(calls: &Calls<'_, '_>, file: usize, mark: Mark, name: &str) -> Option<Site> {
    let symbol = calls.names.get(name)?;
    let entry = entry::entry(calls.image, symbol.address, symbol.size, Stack::AsAtEntry)?;
    let offset = calls.image.file_offset(entry.address)?;
    let (mut shown, mut note) = (symbol.name.to_owned(), describe_entry(&entry, &symbol));
    if let Some(found) = calls.names.unnamed(name) {
        shown = format!("{shown} {}", found.by);
        note = format!("function at {:#x}, without a name: {}; {note}", symbol.address, found.how);
    }
    Some(Site { mark, file, offset, symbol: shown, note })
}
