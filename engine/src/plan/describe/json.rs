//! The plan as typed data for programs: `engine --format json` of both programs.
//!
//! docs/agent-json.md describes the object. Texts (`text`) are for people.

use serde::Serialize;

use super::direct::direct as direct_text;
use super::files::Examined;
use super::found::{note, symbol};
use super::layout::layout as layout_text;
use super::missing::reason;
use super::way::{level as level_name, way as way_text};
use crate::direct::places::{DirectPlace, DirectPlaces, DirectRole};
use crate::facts::layout::{FoundLayout, Offset, Origin};
use crate::file::elf::{Image, Machine};
use crate::plan::strategy::{Strategy, Way};
use crate::plan::types::{EnginePlan, FileFindings, Role};
use crate::probes::evidence::Site;
use crate::probes::kind::ProbeKind;
use crate::probes::missing::Missing;

/// Version of the object. It changes when a field changes its meaning or is removed.
const SCHEMA: u32 = 1;

/// The object. It serializes to the JSON document.
#[derive(Debug, Serialize)]
pub struct Engine<'a> {
    schema: u32,
    /// True if every level can be traced.
    complete: bool,
    /// As the engine states it.
    version: Option<&'a str>,
    levels: Vec<LevelFound<'a>>,
    files: Vec<FileFound<'a>>,
    missing: Vec<MissingFound<'a>>,
    /// `null` if the structs cannot be read; `layout_text` has the reason.
    layout: Option<LayoutFound<'a>>,
    layout_text: String,
    tables: TablesFound<'a>,
    /// Remarks about single files, including refused ones.
    remarks: &'a [String],
}

#[derive(Debug, Serialize)]
struct LevelFound<'a> {
    level: &'static str,
    traced: bool,
    /// Empty if the level cannot be traced.
    ways: Vec<WayFound<'a>>,
    /// Symbols that were not found.
    without: &'a [String],
    /// The ways in words, or why there is none.
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum WayFound<'a> {
    /// Probes these functions.
    Functions { symbols: Vec<&'a str> },
    /// Probes functions that each run one operator.
    OperatorFunctions { symbols: Vec<&'a str> },
    /// Probes a function that was found by its machine code.
    Structure,
    /// Probes the calls of the function with which every operator starts, and of `fused` kernels.
    Calls { symbol: &'a str, fused: usize },
    /// Probes a function of another backend: complete operators (`whole`) or nested calls.
    Backend { backend: &'a str, whole: bool, symbol: &'a str },
}

#[derive(Debug, Serialize)]
struct FileFound<'a> {
    path: &'a str,
    machine: &'static str,
    build_id: Option<String>,
    /// Roles in the engine. Empty if the file is no part of one.
    roles: Vec<&'static str>,
    probes: Vec<ProbeFound<'a>>,
    /// `null` if the file has no operators.
    direct: Option<DirectFound>,
}

#[derive(Debug, Serialize)]
struct ProbeFound<'a> {
    level: &'static str,
    /// The event that the probe observes.
    what: &'static str,
    /// File offset, hexadecimal.
    offset: String,
    /// The function return is probed too.
    returns: bool,
    symbol: String,
    mnemonic: &'a str,
    /// The kernel emulates the instruction; otherwise it single-steps it.
    emulated: bool,
    text: String,
}

/// Where a file can take direct probes.
#[derive(Debug, Serialize)]
struct DirectFound {
    /// Empty if there are none; `text` has the reason.
    places: Vec<PlaceFound>,
    has_phase: bool,
    text: String,
}

#[derive(Debug, Serialize)]
struct PlaceFound {
    /// `start`, `fused_start`, `end` or `whole_call`.
    role: &'static str,
    /// File offset, hexadecimal.
    offset: String,
    /// Length of the instruction that the probe changes.
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct MissingFound<'a> {
    level: &'static str,
    what: &'static str,
    symbol: &'a str,
    text: String,
}

/// Field offsets in the engine's structs.
#[derive(Debug, Serialize)]
struct LayoutFound<'a> {
    /// The releases that have this layout, or from which a fork started.
    releases: &'a str,
    fields: Vec<FieldFound>,
}

#[derive(Debug, Serialize)]
struct FieldFound {
    field: &'static str,
    offset_bytes: u32,
    /// The function from which the offset was read. `null` if it is that of the releases.
    accessor: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct TablesFound<'a> {
    operators: &'a [String],
    unary: &'a [String],
    glu: &'a [String],
    types: Vec<TypeFound<'a>>,
}

#[derive(Debug, Serialize)]
struct TypeFound<'a> {
    number: u32,
    name: &'a str,
    block_elements: u32,
    block_bytes: u32,
}

impl<'a> Engine<'a> {
    /// What was found in the files, and how each level is traced.
    #[must_use]
    pub fn new(found: &'a Examined<'a>, strategies: &'a [Strategy]) -> Self {
        let plan = &found.plan;
        Self {
            schema: SCHEMA,
            complete: found.complete(),
            version: Some(plan.version.as_str()).filter(|version| !version.is_empty()),
            levels: strategies.iter().map(level).collect(),
            files: files(plan, &found.images),
            missing: plan.missing.iter().map(missing).collect(),
            layout: plan.layout.as_ref().ok().map(layout),
            layout_text: layout_text(&plan.layout),
            tables: tables(plan),
            remarks: &found.remarks,
        }
    }
}

fn level(strategy: &Strategy) -> LevelFound<'_> {
    let ways = strategy.ways.as_ref().map(|ways| ways.iter().map(way).collect());
    LevelFound {
        level: level_name(strategy.level),
        traced: ways.is_ok(),
        ways: ways.unwrap_or_default(),
        without: &strategy.without,
        text: way_text(strategy).unwrap_or_else(|why| why),
    }
}

fn way(way: &Way) -> WayFound<'_> {
    match way {
        Way::Functions(names) => {
            WayFound::Functions { symbols: names.iter().map(|(name, _)| name.as_str()).collect() }
        }
        Way::OperatorFunctions(names) => {
            WayFound::OperatorFunctions { symbols: names.iter().map(String::as_str).collect() }
        }
        Way::Structure => WayFound::Structure,
        Way::Calls { symbol, fused, .. } => WayFound::Calls { symbol, fused: *fused },
        Way::Backend { backend, whole, symbol } => WayFound::Backend { backend, whole: *whole, symbol },
    }
}

fn files<'a>(plan: &'a EnginePlan, images: &'a [Image<'a>]) -> Vec<FileFound<'a>> {
    let of = |(number, (found, image)): (usize, (&'a FileFindings, &'a Image<'a>))| {
        let id: String = found.build_id.iter().map(|byte| format!("{byte:02x}")).collect();
        FileFound {
            path: image.path(),
            machine: match image.machine() {
                Machine::X86_64 => "x86-64",
                Machine::Arm64 => "arm64",
            },
            build_id: (!id.is_empty()).then_some(id),
            roles: found.roles.iter().map(role).collect(),
            probes: plan.sites.iter().filter(|s| s.file == number).map(probe).collect(),
            direct: found.direct.as_ref().map(|found| DirectFound {
                places: found.as_ref().map(places).unwrap_or_default(),
                has_phase: found.as_ref().is_ok_and(|found| found.has_phase),
                text: direct_text(found),
            }),
        }
    };
    plan.files.iter().zip(images).enumerate().map(of).collect()
}

const fn role(role: &Role) -> &'static str {
    match role {
        Role::Token => "token",
        Role::Graph => "graph",
        Role::CpuGraph => "cpu_graph",
        Role::CpuOperators => "cpu_operators",
        Role::BackendFunctions => "backend_functions",
        Role::NamesAndLayout => "names_and_layout",
    }
}

/// What a probe of this kind observes.
const fn what(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::LoadModel => "load_model",
        ProbeKind::NewContext => "new_context",
        ProbeKind::LlamaDecode | ProbeKind::LlamaProcess | ProbeKind::LlamaEncode => "token_call",
        ProbeKind::BatchClear => "batch_clear",
        ProbeKind::SequenceCut => "sequence_cut",
        ProbeKind::SequenceCopy => "sequence_copy",
        ProbeKind::MemoryClear => "memory_clear",
        ProbeKind::SaveState => "save_state",
        ProbeKind::RestoreState => "restore_state",
        ProbeKind::AllocateGraph => "allocate_graph",
        ProbeKind::Synchronize => "synchronize",
        ProbeKind::OutputTaken => "output_taken",
        ProbeKind::OutputsTaken => "outputs_taken",
        ProbeKind::BatchAdd => "batch_add",
        ProbeKind::BatchSequence => "batch_add_sequence",
        ProbeKind::BatchPosition => "batch_set_position",
        ProbeKind::BatchOutput => "batch_set_output",
        ProbeKind::SchedulerGraph => "scheduler_graph",
        ProbeKind::CpuGraph => "cpu_graph",
        ProbeKind::BackendGraph => "backend_graph",
        ProbeKind::OpStart => "operator_start",
        ProbeKind::OpFused => "fused_operator_start",
        ProbeKind::OpEnd => "operator_end",
        ProbeKind::OpFunction => "operator_function",
        ProbeKind::BackendOp(_) => "backend_operator",
        ProbeKind::NestedCall(_) => "nested_call",
    }
}

fn probe(site: &Site) -> ProbeFound<'_> {
    ProbeFound {
        level: level_name(site.kind.level()),
        what: what(site.kind),
        offset: hex(site.offset),
        returns: site.kind.has_return(),
        symbol: symbol(site),
        mnemonic: &site.mnemonic,
        emulated: site.emulated,
        text: note(site),
    }
}

fn places(found: &DirectPlaces) -> Vec<PlaceFound> {
    let of = |place: &DirectPlace| PlaceFound {
        role: match place.role {
            DirectRole::Start { fused: false, .. } => "start",
            DirectRole::Start { fused: true, .. } => "fused_start",
            DirectRole::End => "end",
            DirectRole::Whole { .. } => "whole_call",
        },
        offset: hex(place.offset),
        bytes: place.bytes.len(),
    };
    found.places.iter().map(of).collect()
}

fn missing(missing: &Missing) -> MissingFound<'_> {
    MissingFound {
        level: level_name(missing.kind.level()),
        what: what(missing.kind),
        symbol: &missing.symbol,
        text: reason(missing),
    }
}

fn layout(found: &FoundLayout) -> LayoutFound<'_> {
    let field = |o: &Offset| FieldFound {
        field: o.field,
        offset_bytes: o.offset,
        accessor: match o.origin {
            Origin::Accessor(function) => Some(function),
            Origin::Releases => None,
        },
    };
    LayoutFound { releases: found.releases, fields: found.offsets.iter().map(field).collect() }
}

fn tables(plan: &EnginePlan) -> TablesFound<'_> {
    let tables = &plan.tables;
    // A number that the engine no longer uses has an empty name.
    let named = (0..).zip(&tables.types).filter(|(_, t)| !t.name.is_empty());
    let types = named.map(|(number, t)| TypeFound {
        number,
        name: &t.name,
        block_elements: t.block_elements,
        block_bytes: t.block_bytes,
    });
    TablesFound { operators: &tables.ops, unary: &tables.unary, glu: &tables.glu, types: types.collect() }
}

/// A string: some JSON readers keep only 53 bits of a number.
fn hex(offset: u64) -> String {
    format!("{offset:#x}")
}
