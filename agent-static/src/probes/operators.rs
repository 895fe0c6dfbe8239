//! How the operators of a process are probed: by uprobes, or directly.

use profinfer_engine::{EnginePlan, ProbeKind, Site, describe};
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::cost::ProbeCost;
use profinfer_wire::record::direct::{Probes, ProbesUsed};

use crate::direct::{Installed, PutIn, Refused, calibrate, put_in};
use crate::error::log;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::probes::outcome::{Fate, Outcome};
use crate::request::capture::Effective;
use crate::request::plan::Plan;
use crate::target::maps::MappedFile;
use crate::target::watch::Watch;

/// What a session wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProbeMode {
    /// Uprobes.
    #[default]
    Uprobes,
    /// Direct probes; what they cost here, where it could be measured.
    Direct(Option<ProbeCost>),
    /// Direct probes, which this session cannot have.
    Refused(Refused),
}

impl ProbeMode {
    /// What the plan asks for. `counting`: counters are read at operators; `effective`: what of them is captured.
    #[must_use]
    pub fn from_parts(plan: &Plan, counting: bool, effective: &Effective) -> Self {
        match plan.probes {
            Probes::Auto | Probes::Uprobe => Self::Uprobes,
            Probes::Direct if plan.levels & level::OP == 0 => Self::Uprobes,
            Probes::Direct if !cfg!(feature = "direct") => Self::Refused(Refused::NotBuilt),
            Probes::Direct if counting => Self::Refused(Refused::Counters),
            Probes::Direct if plan.levels & level::EXPERT != 0 => Self::Refused(Refused::Experts),
            Probes::Direct if !effective.in_pairs() => Self::Refused(Refused::Capture),
            Probes::Direct => Self::Direct(calibrate::probe_cost()),
        }
    }
}

/// The operators of one process.
#[derive(Debug)]
pub enum Operators {
    /// By uprobes.
    Uprobes,
    /// Direct probes are put in when the engine is known.
    Later,
    /// Directly.
    Direct(Box<Installed>),
}

impl Operators {
    /// As a session plan_builder.
    #[must_use]
    pub const fn new(mode: &ProbeMode) -> Self {
        if matches!(mode, ProbeMode::Direct(_)) { Self::Later } else { Self::Uprobes }
    }

    /// No uprobe goes to probes of that kind.
    #[must_use]
    pub const fn keeps(&self, kind: ProbeKind) -> bool {
        !matches!(self, Self::Uprobes) && own(kind)
    }

    /// Operators are recorded, or will be.
    #[must_use]
    pub fn cover(&self, plan: Option<&EnginePlan>) -> bool {
        match self {
            Self::Uprobes => false,
            Self::Later => plan.is_some_and(|p| p.sites.iter().any(|s| own(s.kind))),
            Self::Direct(_) => true,
        }
    }

    /// Puts direct probes into the engine. `None`: they were not wanted, or are in.
    pub fn put_in(
        &mut self,
        pid: u32,
        plan: &EnginePlan,
        files: &[MappedFile],
        called: Option<i32>,
        watch: &mut Watch,
    ) -> Option<Result<(PutIn, Vec<Outcome>), Refused>> {
        if !matches!(self, Self::Later) {
            return None;
        }
        *self = Self::Uprobes;
        let mut offers =
            plan.files.iter().zip(files).filter_map(|(f, mapped)| Some((f.direct.as_ref()?, mapped)));
        let (Some((offer, file)), None) = (offers.next(), offers.next()) else {
            return Some(Err(Refused::NoPlaces));
        };
        let places = match offer {
            Ok(places) => places,
            Err(why) => return Some(Err(Refused::Code(*why))),
        };
        Some(put_in(pid, file, places, called, watch).map(|done| {
            let sites = plan.sites.iter().filter(|s| own(s.kind) && files.get(s.file) == Some(file));
            let outcomes = sites.map(|s| outcome(s, file)).collect();
            (done, outcomes)
        }))
    }
}

/// Kinds that direct probes stand for.
const fn own(kind: ProbeKind) -> bool {
    matches!(kind, ProbeKind::OpStart | ProbeKind::OpFused | ProbeKind::OpEnd | ProbeKind::OpFunction)
}

fn outcome(site: &Site, file: &MappedFile) -> Outcome {
    let (symbol, library) = (describe::symbol(site), file.path.clone());
    Outcome { kind: site.kind, symbol, library, fate: Fate::Direct { offset: site.offset } }
}

/// Says what became of direct probes that were put in, and begins to read them.
pub(crate) fn begin(pid: u32, done: PutIn, cost: Option<ProbeCost>, lower: &mut Lower) -> Box<Installed> {
    let repaired = done.repaired.done;
    if repaired > 0 {
        log(&format!(
            "process {pid}: an agent that was killed had left its direct probes; {repaired} places put back first"
        ));
    }
    let used = ProbesUsed {
        pid,
        used: Probes::Direct,
        why: 0,
        detail: "",
        places: u16::try_from(done.installed.places()).unwrap_or(u16::MAX),
        repaired,
        stopped_ns: done.stopped_ns,
    };
    lower.emit.emit(&Record::ProbesUsed(used), Weight::Essential);
    if let Some(cost) = cost {
        lower.emit.emit(&Record::ProbeCost(cost), Weight::Essential);
    }
    lower.add_direct(done.reader);
    Box::new(done.installed)
}

/// Says why a process gets uprobes instead.
pub(crate) fn refuse(pid: u32, why: &Refused, lower: &mut Lower) {
    log(&format!(
        "process {pid} is not probed directly: {why}\n  its operators are probed by uprobes instead\n  for direct probes: {}",
        why.help()
    ));
    let detail = why.detail();
    let used = ProbesUsed {
        pid,
        used: Probes::Uprobe,
        why: why.why(),
        detail: &detail[..detail.floor_char_boundary(1000)],
        places: 0,
        repaired: 0,
        stopped_ns: 0,
    };
    lower.emit.emit(&Record::ProbesUsed(used), Weight::Essential);
}
