//! How the operators of a process are probed: by uprobes or by direct probes.

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
use crate::target::files::MappedFile;
use crate::target::watch::Watch;

/// The configured kind of operator probes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProbeMode {
    #[default]
    Uprobes,
    /// Direct probes, with their measured cost if known.
    Direct(Option<ProbeCost>),
    /// Direct probes were requested, but this session cannot use them.
    Refused(Refused),
}

impl ProbeMode {
    /// The kind that the plan requests. `counting`: counters are read at operators. `effective`:
    /// the effective capture settings.
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

/// How the operators of one process are probed.
#[derive(Debug)]
pub enum Operators {
    Uprobes,
    /// Direct probes will be installed when the engine is known.
    Later,
    /// By direct probes.
    Direct(Box<Installed>),
}

impl Operators {
    /// The state before the engine is known.
    #[must_use]
    pub const fn new(mode: &ProbeMode) -> Self {
        if matches!(mode, ProbeMode::Direct(_)) { Self::Later } else { Self::Uprobes }
    }

    /// Whether probes of this kind must not become uprobes.
    #[must_use]
    pub const fn keeps(&self, kind: ProbeKind) -> bool {
        !matches!(self, Self::Uprobes) && own(kind)
    }

    /// Whether direct probes record operators now or later.
    #[must_use]
    pub fn cover(&self, plan: Option<&EnginePlan>) -> bool {
        match self {
            Self::Uprobes => false,
            Self::Later => plan.is_some_and(|p| p.sites.iter().any(|s| own(s.kind))),
            Self::Direct(_) => true,
        }
    }

    /// Installs direct probes in the engine. `None`: they are not configured, or are installed
    /// already.
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

/// Kinds that direct probes replace.
const fn own(kind: ProbeKind) -> bool {
    matches!(kind, ProbeKind::OpStart | ProbeKind::OpFused | ProbeKind::OpEnd | ProbeKind::OpFunction)
}

fn outcome(site: &Site, file: &MappedFile) -> Outcome {
    let (symbol, library) = (describe::symbol(site), file.path.clone());
    Outcome { kind: site.kind, symbol, library, fate: Fate::Direct { offset: site.offset } }
}

/// Reports installed direct probes and starts to read them.
pub(crate) fn begin(pid: u32, done: PutIn, cost: Option<ProbeCost>, lower: &mut Lower) -> Box<Installed> {
    let repaired = done.repaired.done;
    if repaired > 0 {
        log(&format!(
            "process {pid}: {repaired} places put back first: a killed agent had left its direct probes there"
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

/// Reports why a process gets uprobes instead of direct probes.
pub(crate) fn refuse(pid: u32, why: &Refused, lower: &mut Lower) {
    log(&format!(
        "process {pid}: no direct probes: {why}\n  uprobes are used for its operators instead\n  to use direct probes: {}",
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
