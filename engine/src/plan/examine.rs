//! Combines the files of a process into one plan.

use super::types::{EnginePlan, FileFindings, Role};
use crate::code::decode::mnemonic;
use crate::code::entry::{self, Stack};
use crate::direct::find;
use crate::direct::places::{DirectPlaces, NoDirect};
use crate::facts::accessors::ALLOCATES;
use crate::facts::layout::{FoundLayout, NoLayout};
use crate::facts::tables::{self, Tables};
use crate::facts::{fitting, uid, version};
use crate::file::build_id::build_id;
use crate::file::elf::Image;
use crate::probes::evidence::{Evidence, Site};
use crate::probes::handover::{self, Handover};
use crate::probes::kind::ProbeKind;
use crate::probes::missing::{Missing, MissingReason};
use crate::probes::{backend_function, dispatch, messages, operators, stripped};
use crate::symbols::calls::Calls;
use crate::symbols::names::BackendFunction;

/// Functions whose entry and return are probed.
const FUNCTIONS: [(ProbeKind, &[&str]); 29] = [
    // The names since 2025, and those before, which call the new ones today.
    (ProbeKind::LoadModel, &["llama_model_load_from_file", "llama_load_model_from_file"]),
    (ProbeKind::NewContext, &["llama_init_from_model", "llama_new_context_with_model"]),
    (ProbeKind::LlamaDecode, &["llama_decode"]),
    (ProbeKind::LlamaProcess, &["llama_process"]),
    (ProbeKind::LlamaEncode, &["llama_encode"]),
    (ProbeKind::BatchClear, &["llama_batch_ext_clear"]),
    (ProbeKind::BatchAdd, &["llama_batch_ext_add"]),
    (ProbeKind::BatchAdd, &["llama_batch_ext_add_token"]),
    (ProbeKind::BatchAdd, &["llama_batch_ext_add_embd"]),
    (ProbeKind::BatchSequence, &["llama_batch_ext_add_seq"]),
    (ProbeKind::BatchPosition, &["llama_batch_ext_set_pos"]),
    (ProbeKind::BatchOutput, &["llama_batch_ext_set_output_logits"]),
    (ProbeKind::BatchOutput, &["llama_batch_ext_set_output_embd"]),
    // The names since 2025-06, since 2025-03, and those before, which have the context instead of its memory.
    (ProbeKind::SequenceCut, &["llama_memory_seq_rm", "llama_kv_self_seq_rm", "llama_kv_cache_seq_rm"]),
    (ProbeKind::SequenceCopy, &["llama_memory_seq_cp", "llama_kv_self_seq_cp", "llama_kv_cache_seq_cp"]),
    (ProbeKind::MemoryClear, &["llama_memory_clear", "llama_kv_self_clear", "llama_kv_cache_clear"]),
    // The first one that exists: the second one calls it.
    (ProbeKind::SaveState, &["llama_state_seq_get_data_ext", "llama_state_seq_get_data"]),
    (ProbeKind::RestoreState, &["llama_state_seq_set_data_ext", "llama_state_seq_set_data"]),
    (ProbeKind::AllocateGraph, &["ggml_gallocr_reserve_n"]),
    (ProbeKind::Synchronize, &["ggml_backend_sched_synchronize"]),
    (ProbeKind::OutputsTaken, &["llama_get_logits"]),
    (ProbeKind::OutputTaken, &["llama_get_logits_ith"]),
    (ProbeKind::OutputsTaken, &["llama_get_embeddings"]),
    (ProbeKind::OutputTaken, &["llama_get_embeddings_ith"]),
    (ProbeKind::OutputTaken, &["llama_get_embeddings_seq"]),
    // A token that a backend sampled: then nobody takes logits.
    (ProbeKind::OutputTaken, &["llama_get_sampled_token_ith"]),
    // The first one that exists: the second one calls it.
    (
        ProbeKind::SchedulerGraph,
        &["ggml_backend_sched_graph_compute_async", "ggml_backend_sched_graph_compute"],
    ),
    (ProbeKind::CpuGraph, &["ggml_graph_compute"]),
    (ProbeKind::BackendGraph, &[handover::FUNCTION]),
];

/// The accessor that determines the layout. The file that has it also has the other accessors and
/// the names.
const ACCESSOR: &str = "ggml_get_name";

/// The names in one file, and the functions that can be recovered where it has no names.
fn calls_of<'p, 'd>(image: &'p Image<'d>, backends: &[BackendFunction]) -> Calls<'p, 'd> {
    let mut calls = Calls::new(image, backends);
    messages::recover(&mut calls);
    calls
}

/// Whether a file has something to examine: a probed function, an accessor or a table. `backends`
/// are the functions of backends other than the CPU that deserve a probe.
///
/// Quick for other files: it searches names of symbols, then pointers to strings.
#[must_use]
pub fn is_engine_part(image: &Image<'_>, backends: &[BackendFunction]) -> bool {
    let calls = calls_of(image, backends);
    let functions = FUNCTIONS.iter().flat_map(|(_, names)| names.iter());
    let known = functions.chain([&dispatch::START, &ACCESSOR]).any(|name| calls.function(name).is_some());
    known
        || backend_function::in_file(&calls)
        || (tables::may_be_in(image) && !tables::read(&calls).ops.is_empty())
}

/// File offset of the function that the dynamic linker calls when the list of loaded libraries
/// changes (`r_brk` of `struct r_debug`); only a dynamic linker has one.
#[must_use]
pub fn library_event_site(image: &Image<'_>) -> Option<u64> {
    let event = image.symbols().find(|s| s.name == "_dl_debug_state" && image.is_code(s.address))?;
    image.file_offset(event.address)
}

/// The functions of GGML and llama.cpp that would be recovered if the file had no names: name and
/// address. Tests compare them with the names of a file that has them.
#[must_use]
pub fn stripped_functions(image: &Image<'_>) -> Vec<(&'static str, u64)> {
    let calls = calls_of(image, &[]);
    let mut found = messages::find(&calls);
    found.extend(stripped::functions(&calls, tables::read(&calls).ops.len()));
    found.into_iter().map(|f| (f.symbol.name, f.symbol.address)).collect()
}

/// Makes a plan from the files that a process maps, in any order.
#[must_use]
pub fn examine(files: &[Image<'_>], backends: &[BackendFunction]) -> EnginePlan {
    let mut calls: Vec<_> = files.iter().map(|image| calls_of(image, backends)).collect();
    let (layout, tables) = (read_layout(&calls), read_tables(&calls));
    for calls in calls.iter_mut().filter(|c| c.stripped) {
        for found in stripped::functions(calls, tables.ops.len()) {
            calls.names.add(found);
        }
    }
    let mut plan = EnginePlan {
        sites: Vec::new(),
        missing: Vec::new(),
        layout,
        tables,
        version: read_version(&calls),
        files: Vec::new(),
    };
    for (file, calls) in calls.iter().enumerate() {
        let (roles, direct) = plan.read_sites(file, calls, backends);
        let build_id = build_id(calls.image).unwrap_or_default().to_vec();
        plan.files.push(FileFindings { roles, build_id, direct });
    }
    plan.miss(calls.iter().any(|c| c.stripped && !tables::read(c).ops.is_empty()));
    plan
}

/// The layout: the first file with accessors determines it.
fn read_layout(files: &[Calls<'_, '_>]) -> Result<FoundLayout, NoLayout> {
    let with = |name: &str| files.iter().find(|c| c.function(name).is_some());
    let calls = with(ACCESSOR).or_else(|| with(ALLOCATES)).ok_or(NoLayout::NoAccessor)?;
    let mut found = fitting::read(calls)?;
    found.layout.graph_uid = uid::offset(calls);
    Ok(found)
}

/// Names: from the file with the accessors, otherwise from any file.
fn read_tables(files: &[Calls<'_, '_>]) -> Tables {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by_key(|c| c.function(ACCESSOR).is_none());
    files.into_iter().map(tables::read).find(|t| !t.ops.is_empty()).unwrap_or_default()
}

fn read_version(files: &[Calls<'_, '_>]) -> String {
    let parts = [files.iter().find_map(version::llama), files.iter().find_map(version::ggml)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl EnginePlan {
    /// Adds the sites in one file. Returns its roles for the engine, and where its operators can be
    /// recorded without a trap.
    fn read_sites(
        &mut self,
        file: usize,
        calls: &Calls<'_, '_>,
        backends: &[BackendFunction],
    ) -> (Vec<Role>, Option<Result<DirectPlaces, NoDirect>>) {
        let (mut roles, mut places) = (Vec::new(), None);
        for (kind, wanted) in FUNCTIONS {
            let mut site = wanted.iter().find_map(|name| function_site(calls, file, kind, name));
            if kind == ProbeKind::BackendGraph {
                site = site.and_then(|site| self.handover(calls, site));
            }
            roles.extend(site.is_some().then_some(match kind {
                ProbeKind::LoadModel
                | ProbeKind::NewContext
                | ProbeKind::LlamaDecode
                | ProbeKind::LlamaProcess
                | ProbeKind::LlamaEncode
                | ProbeKind::SequenceCut
                | ProbeKind::SequenceCopy
                | ProbeKind::MemoryClear
                | ProbeKind::SaveState
                | ProbeKind::RestoreState
                | ProbeKind::OutputTaken
                | ProbeKind::OutputsTaken
                | ProbeKind::BatchClear
                | ProbeKind::BatchAdd
                | ProbeKind::BatchSequence
                | ProbeKind::BatchPosition
                | ProbeKind::BatchOutput => Role::Token,
                ProbeKind::SchedulerGraph
                | ProbeKind::BackendGraph
                | ProbeKind::AllocateGraph
                | ProbeKind::Synchronize => Role::Graph,
                _ => Role::CpuGraph,
            }));
            self.sites.extend(site);
        }
        if roles.contains(&Role::CpuGraph) || calls.function(dispatch::START).is_some() {
            let found = operators::find(calls, file, self.layout().as_ref(), self.tables.ops.len());
            if !found.sites.is_empty() {
                roles.push(Role::CpuOperators);
                let has_phase = self.layout().is_some_and(|l| l.params_phase);
                places = Some(find::find(calls, file, &found, has_phase));
            }
            self.sites.extend(found.sites);
            self.missing.extend(found.missing);
        }
        let (sites, missing) = backend_function::find(calls, file, backends);
        roles.extend((!sites.is_empty()).then_some(Role::BackendFunctions));
        self.sites.extend(sites);
        self.missing.extend(missing);
        roles.extend(calls.function(ACCESSOR).map(|_| Role::NamesAndLayout));
        roles.dedup();
        (roles, places)
    }

    /// Adds the places where the scheduler itself calls backends. The function's own site stays if
    /// the function is called, too.
    fn handover(&mut self, calls: &Calls<'_, '_>, function: Site) -> Option<Site> {
        let (found, offset, called) = match handover::handover(calls) {
            None | Some(Handover::Called) => return Some(function),
            Some(Handover::Unseen(reason)) => {
                self.missing.push(Missing { kind: ProbeKind::BackendGraph, symbol: function.symbol, reason });
                return None;
            }
            Some(Handover::Inlined { sites, offset, called }) => (sites, offset, called),
        };
        for i in found {
            let Some(at) = calls.image.file_offset(i.address) else { continue };
            self.sites.push(Site {
                offset: at,
                mnemonic: mnemonic(calls.image, &i),
                emulated: i.emulated,
                evidence: Evidence::InlinedHandover { offset },
                ..function.clone()
            });
        }
        (called > 0).then_some(function)
    }

    /// Records levels without any site. `stripped` means that a file is the engine and has no
    /// names.
    fn miss(&mut self, stripped: bool) {
        let has = |kinds: &[ProbeKind]| self.sites.iter().any(|s| kinds.contains(&s.kind));
        let mut missing = Vec::new();
        let mut miss = |kind, symbol: &str| {
            let reason = if stripped {
                MissingReason::Stripped(messages::texts_of(symbol))
            } else {
                MissingReason::NotDefined
            };
            missing.push(Missing { kind, symbol: symbol.into(), reason });
        };
        if !has(&[ProbeKind::LlamaDecode, ProbeKind::LlamaProcess]) {
            miss(ProbeKind::LlamaDecode, "llama_decode");
        }
        if !has(&[ProbeKind::SchedulerGraph]) {
            miss(ProbeKind::SchedulerGraph, "ggml_backend_sched_graph_compute_async");
        }
        if stripped && !has(&[ProbeKind::BackendGraph]) {
            miss(ProbeKind::BackendGraph, handover::FUNCTION);
        }
        if !has(&[ProbeKind::CpuGraph]) {
            miss(ProbeKind::CpuGraph, messages::GRAPH);
            if self.missing.iter().all(|m| m.kind.backend_slot().is_some())
                && !has(&[ProbeKind::OpStart, ProbeKind::OpFunction])
            {
                miss(ProbeKind::OpStart, dispatch::START);
            }
        }
        self.missing.extend(missing);
    }
}

fn function_site(calls: &Calls<'_, '_>, file: usize, kind: ProbeKind, name: &str) -> Option<Site> {
    let symbol = calls.names.get(name)?;
    let found = entry::entry(calls.image, symbol.address, symbol.size, Stack::AsAtEntry)?;
    let offset = calls.image.file_offset(found.address)?;
    let entry = found.address.saturating_sub(symbol.address);
    let evidence = match calls.names.clue(name) {
        Some(clue) => Evidence::Recovered { address: symbol.address, clue, entry },
        None => Evidence::Named { entry },
    };
    let (mnemonic, emulated) = (found.mnemonic, found.emulated);
    Some(Site { kind, file, offset, symbol: symbol.name.to_owned(), mnemonic, emulated, evidence })
}
