//! Attaches probes to the files that a process maps.
//!
//! Called whenever new files may have been loaded; existing probes stay. Each probe is limited to
//! one process, so other users of the same libraries have no overhead.

mod files;
mod removal;

use std::collections::{BTreeMap, BTreeSet};

use libbpf_rs::Link;
use profinfer_engine::{BackendFunction, EnginePlan, ProbeKind, Site, describe};
use profinfer_wire::record::control::level;

use crate::bpf::backend_function;
use crate::bpf::{Bpf, EngineConfig, Totals, Window};
use crate::clock;
use crate::direct::{Installed, PutIn, Refused};
use crate::error::Result;
use crate::lower::hits::Hits;
use crate::probes::operators::{Operators, ProbeMode};
use crate::probes::outcome::{Fate, Outcome, level_bit};
use crate::probes::selfcheck::doubt;
use crate::probes::uprobes::Uprobes;
use crate::target::files::{MappedFile, code_files};
use crate::target::maps::FileId;
use crate::target::process::ended_by_return_probes;
use crate::target::watch::Watch;
use files::{Stamp, stamp};
use removal::{LEAVING, Leaving};

/// Direct probes that were installed or refused, and the outcomes of the operator probes.
pub type Settled = (std::result::Result<PutIn, Refused>, Vec<Outcome>);

/// A process and its probes.
#[derive(Debug)]
pub struct Attached {
    pub pid: u32,
    /// Plan from the last examination of its files; `None` until a part of an engine was found.
    pub plan: Option<EnginePlan>,
    /// The files that are parts of the engine, in the order of the plan's indices.
    pub files: Vec<MappedFile>,
    /// Attached probes, with the last reported outcome of each.
    pub reported: Vec<Outcome>,
    /// Probes that the kernel refused at the last attempt.
    refused: Vec<Outcome>,
    pub operators: Operators,
    levels: u32,
    uprobes: Uprobes,
    library_events: Vec<Link>,
    looked_at: BTreeMap<FileId, bool>,
    /// Size and time of the engine's files when they were examined.
    stamps: BTreeMap<FileId, Stamp>,
    linkers: BTreeSet<FileId>,
    /// Operators are captured in calls that begin in this window.
    captured: Window,
    /// When the last operator probe was attached, ns.
    operators_ns: Option<u64>,
    /// Threads that remove operator probes.
    leaving: Leaving,
    /// Probes that only prepared a switch. They are removed with the operator probes.
    spare: Vec<Link>,
    /// Functions of other backends that are probed.
    backends: Vec<BackendFunction>,
    /// A file has another backend than the CPU's.
    other_backend: bool,
}

impl Attached {
    #[must_use]
    pub fn new(pid: u32, levels: u32, mode: &ProbeMode) -> Self {
        Self {
            pid,
            plan: None,
            files: Vec::new(),
            reported: Vec::new(),
            refused: Vec::new(),
            operators: Operators::new(mode),
            levels,
            uprobes: Uprobes::default(),
            library_events: Vec::new(),
            looked_at: BTreeMap::new(),
            stamps: BTreeMap::new(),
            linkers: BTreeSet::new(),
            captured: Window::default(),
            operators_ns: None,
            leaving: Vec::with_capacity(LEAVING),
            spare: Vec::new(),
            backends: backend_function::searched(),
            other_backend: false,
        }
    }

    /// Whether any probe of this level is attached to the engine itself. Functions of other
    /// backends, and probes without which the level can be traced, do not count.
    #[must_use]
    pub fn has(&self, level: u32) -> bool {
        let of_it = |kind: ProbeKind| {
            level_bit(kind.level()) & level != 0 && kind.backend_slot().is_none() && !kind.is_extra()
        };
        self.uprobes.kinds().any(of_it)
    }

    /// Whether another process maps a file of the engine.
    #[must_use]
    pub fn shares_engine(&self, pid: u32) -> bool {
        code_files(pid).iter().any(|file| self.files.iter().any(|own| own.id == file.id))
    }

    /// Number of probes that are or were attached.
    #[must_use]
    pub fn probes(&self) -> usize {
        self.reported.len()
    }

    /// All requested levels are attached, as far as the agent knows.
    #[must_use]
    pub fn complete(&self) -> bool {
        let wanted = [level::TOKEN, level::GRAPH, level::OP];
        let has = |l| self.has(l) || l == level::OP && self.operators.cover(self.plan.as_ref());
        wanted.into_iter().filter(|l| self.levels & l != 0).all(has)
    }

    /// Captures operators in calls that begin in this window.
    pub fn capture(&mut self, bpf: &Bpf<'_>, window: Window) {
        self.captured = window;
        bpf.set_engine(self.pid, self.config(false));
    }

    /// Time since which all operator probes are attached, ns; `None` without operator probes.
    #[must_use]
    pub fn operators_since(&self) -> Option<u64> {
        let direct = matches!(self.operators, Operators::Direct(_));
        self.operators_ns.filter(|_| direct || self.uprobes.kinds().any(switchable))
    }

    /// Examines the files that the process maps now and attaches new probes. Returns the outcomes
    /// of these probes; empty if nothing changed.
    ///
    /// # Errors
    /// If the programs have no slot for another process.
    pub fn refresh(&mut self, bpf: &Bpf<'_>, hold: bool) -> Result<Vec<Outcome>> {
        let mapped = code_files(self.pid);
        let new: Vec<&MappedFile> = mapped.iter().filter(|f| !self.looked_at.contains_key(&f.id)).collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let (mut found, other_backend) = (false, self.other_backend);
        for file in new {
            let part = self.look_at(bpf, file);
            self.looked_at.insert(file.id, part);
            self.stamps.extend(stamp(file).map(|s| (file.id, s)));
            found |= part;
        }
        if !found && self.other_backend == other_backend {
            return Ok(Vec::new());
        }
        self.files = mapped.into_iter().filter(|f| self.looked_at.get(&f.id) == Some(&true)).collect();
        self.examine();
        let outcomes = self.attach(bpf, hold)?;
        self.reported.extend(outcomes.iter().filter(|o| o.attached()).cloned());
        self.refused = outcomes.iter().filter(|o| !o.attached()).cloned().collect();
        Ok(outcomes)
    }

    /// The hook of a dynamic linker is attached, so that loads are noticed.
    #[must_use]
    pub fn sees_loads(&self) -> bool {
        !self.library_events.is_empty()
    }

    fn attach(&mut self, bpf: &Bpf<'_>, hold: bool) -> Result<Vec<Outcome>> {
        let Some(plan) = &self.plan else { return Ok(Vec::new()) };
        // The operator level also needs the graphs to which the operators belong.
        let graphs = if self.levels & level::OP != 0 { level::GRAPH } else { 0 };
        // Operators that cannot be identified would cause overhead and be counted as lost.
        let readable = |kind: ProbeKind| plan.layout.is_ok() || level_bit(kind.level()) != level::OP;
        let wanted = |kind: ProbeKind| {
            level_bit(kind.level()) & (self.levels | graphs) != 0
                && readable(kind)
                // The CPU's backend has computed when its graph returns.
                && (kind != ProbeKind::Synchronize || self.other_backend)
                && !self.operators.keeps(kind)
        };
        bpf.set_engine(self.pid, self.config(hold));
        let ended = ended_by_return_probes(self.pid);
        let mut outcomes = Vec::new();
        // Ends before starts: otherwise the start of an operator could be seen without its end.
        let probed = |kind: ProbeKind| wanted(kind) && !(bpf.starts_only() && kind == ProbeKind::OpEnd);
        let mut sites: Vec<_> = plan.sites.iter().filter(|s| probed(s.kind)).collect();
        sites.sort_by_key(|s| (std::cmp::Reverse(s.kind), s.file));
        for same in sites.chunk_by(|a, b| (a.kind, a.file) == (b.kind, b.file)) {
            let (kind, file) = (same[0].kind, self.files.get(same[0].file));
            let Some(file) = file else { continue };
            let new = same.iter().filter(|s| !self.uprobes.has(kind, file.id, s.offset));
            let new: BTreeMap<u64, &Site> = new.map(|s| (s.offset, *s)).collect();
            let offsets: Vec<u64> = new.keys().copied().collect();
            let outcome = |site: &Site, fate| {
                let (symbol, library) = (describe::symbol(site), file.path.clone());
                Outcome { kind, symbol, library, fate }
            };
            if let Some(why) = ended {
                outcomes.extend(new.values().map(|site| outcome(site, Fate::Refused(why.to_owned()))));
                continue;
            }
            for (offset, done) in self.uprobes.attach(bpf, self.pid, kind, file, &offsets) {
                let Some(site) = new.get(&offset) else { continue };
                let fate = match done {
                    Ok(()) => {
                        if switchable(kind) {
                            self.operators_ns = Some(clock::monotonic_ns());
                        }
                        Fate::Attached { site: (*site).clone(), doubt: None }
                    }
                    Err(e) => Fate::Refused(e.answer),
                };
                outcomes.push(outcome(site, fate));
            }
        }
        Ok(outcomes)
    }

    /// Installs direct probes in a known engine if they are configured. `called` is the thread that
    /// `watch` holds. Falls back to uprobes if direct probes are refused. `None`: there was nothing
    /// to do.
    ///
    /// # Errors
    /// Same as [`Self::refresh`].
    pub fn settle(
        &mut self,
        bpf: &Bpf<'_>,
        called: Option<i32>,
        watch: &mut Watch,
    ) -> Result<Option<Settled>> {
        let Some(plan) = self.plan.as_ref().filter(|p| p.layout.is_ok()) else { return Ok(None) };
        let Some(done) = self.operators.put_in(self.pid, plan, &self.files, called, watch) else {
            return Ok(None);
        };
        let (done, outcomes) = match done {
            Ok((done, outcomes)) => (Ok(done), outcomes),
            Err(why) => (Err(why), self.attach(bpf, called.is_some())?),
        };
        self.reported.extend(outcomes.iter().filter(|o| o.attached()).cloned());
        Ok(Some((done, outcomes)))
    }

    /// Marks the operators as probed directly from now on.
    pub fn probed_directly(&mut self, installed: Box<Installed>) {
        self.operators = Operators::Direct(installed);
        self.operators_ns = Some(clock::monotonic_ns());
    }

    /// Probes whose place was found, but which the kernel refused.
    #[must_use]
    pub fn refused(&self) -> &[Outcome] {
        &self.refused
    }

    /// Probes whose place was not found, to be called when no more files are expected to load.
    #[must_use]
    pub fn missing(&self) -> Vec<Outcome> {
        let wanted = |kind: ProbeKind| level_bit(kind.level()) & self.levels != 0;
        let outcome = |kind, symbol, fate| Outcome { kind, symbol, library: String::new(), fate };
        let Some(plan) = &self.plan else { return Vec::new() };
        let missing = plan.missing.iter().filter(|m| wanted(m.kind));
        let mut all: Vec<_> =
            missing.map(|m| outcome(m.kind, m.symbol.clone(), Fate::Missing(m.clone()))).collect();
        let operators = |kind: ProbeKind| wanted(kind) && level_bit(kind.level()) == level::OP;
        let unread = plan.sites.iter().find(|s| operators(s.kind));
        if let (Err(reason), Some(site)) = (&plan.layout, unread) {
            all.push(outcome(site.kind, describe::symbol(site), Fate::Unreadable(*reason)));
        }
        all
    }

    /// Compares the attached probes with the hits. Returns the probes whose self-check result
    /// changed.
    pub fn check(&mut self, hits: &Hits, totals: &Totals) -> Vec<Outcome> {
        let mut changed = Vec::new();
        for probe in &mut self.reported {
            let Fate::Attached { doubt: known, .. } = &mut probe.fate else { continue };
            let doubt = doubt(probe.kind, hits, totals);
            // Only a new or resolved doubt is reported; its numbers change all the time.
            if known.is_some() == doubt.is_some() {
                continue;
            }
            *known = doubt;
            changed.push(probe.clone());
        }
        changed
    }

    /// Stops watching for library loads.
    pub fn forget_loads(&mut self) {
        self.library_events.clear();
    }

    /// Holds the engine at its first decode call, or lets it continue from there.
    pub fn hold(&self, bpf: &Bpf<'_>, hold: bool) {
        bpf.set_engine(self.pid, self.config(hold));
    }

    fn config(&self, hold: bool) -> EngineConfig {
        let read_topology = self.levels & level::OP != 0;
        let Some(plan) = &self.plan else {
            return EngineConfig { read_topology, hold, captured: self.captured, ..Default::default() };
        };
        let number = |at: Option<usize>| at.and_then(|at| u32::try_from(at).ok());
        let op = |name: &str| number(plan.tables.ops.iter().position(|op| op == name));
        EngineConfig {
            layout: plan.layout(),
            read_topology,
            hold,
            expert_op: op("MUL_MAT_ID").filter(|_| read_topology && self.levels & level::EXPERT != 0),
            rope_op: op("ROPE").filter(|_| read_topology),
            index_type: number(plan.tables.types.iter().position(|t| t.name == "i32")),
            captured: self.captured,
        }
    }
}

/// Whether the probe may be removed and attached again during a session: probes on CPU operators.
const fn switchable(kind: ProbeKind) -> bool {
    matches!(kind, ProbeKind::OpStart | ProbeKind::OpFused | ProbeKind::OpEnd | ProbeKind::OpFunction)
}
