//! Finds the engine in a process, attaches probes and reports both in the recording.

use nix::unistd::Pid;
use profinfer_engine::{Role, describe};
use profinfer_wire::record::Record;
use profinfer_wire::record::session::{Library2, Probe, Process, role};

use super::Tracer;
use crate::bpf::Totals;
use crate::error::Result;
use crate::link::output::Weight;
use crate::lower::{EngineFacts, Lower};
use crate::observe::cost;
use crate::probes::attach::Attached;
use crate::probes::operators::{self, ProbeMode};
use crate::probes::outcome::{Outcome, level_bit};
use crate::target::process;

impl Tracer<'_, '_> {
    pub(super) fn refresh(&mut self, pid: u32, lower: &mut Lower) -> Result<()> {
        let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else { return Ok(()) };
        let outcomes = traced.attached.refresh(self.bpf, traced.watched)?;
        if !outcomes.is_empty() {
            cost::forget_peak_rss();
        }
        let Some(plan) = &traced.attached.plan else { return Ok(()) };
        if !outcomes.is_empty() || !traced.reported {
            if let Some(layout) = plan.layout() {
                lower.set_engine(EngineFacts { pid, layout, tables: plan.tables.clone() });
            }
            emit_process(&traced.attached, lower);
            traced.reported = true;
            self.seen_any = true;
            self.start_ups.loaded(pid, &mut lower.emit);
        }
        for outcome in &outcomes {
            emit_probe(pid, outcome, lower);
        }
        Ok(())
    }

    /// Decides how the operators of a process are probed, once its engine is known. `called` is the
    /// held thread.
    pub(super) fn settle(&mut self, pid: u32, called: Option<Pid>, lower: &mut Lower) -> Result<()> {
        let Some(traced) = self.processes.iter_mut().find(|p| p.attached.pid == pid) else { return Ok(()) };
        if let ProbeMode::Refused(why) = &self.mode {
            operators::refuse(pid, why, lower);
        }
        let called = called.map(Pid::as_raw);
        let Some((done, outcomes)) = traced.attached.settle(self.bpf, called, &mut self.watch)? else {
            return Ok(());
        };
        match (done, &self.mode) {
            (Ok(done), ProbeMode::Direct(cost)) => {
                traced.attached.probed_directly(operators::begin(pid, done, *cost, lower));
            }
            (Ok(_), _) => {}
            (Err(why), _) => operators::refuse(pid, &why, lower),
        }
        for outcome in &outcomes {
            emit_probe(pid, outcome, lower);
        }
        Ok(())
    }

    pub(super) fn emit_missing(&self, pid: u32, lower: &mut Lower) {
        let traced = self.processes.iter().find(|p| p.attached.pid == pid);
        for outcome in traced.iter().flat_map(|t| t.attached.missing()) {
            emit_probe(pid, &outcome, lower);
        }
    }

    /// Reports in the recording which probes failed the self-check.
    pub fn check(&mut self, lower: &mut Lower, totals: &Totals) {
        for traced in &mut self.processes {
            let pid = traced.attached.pid;
            for outcome in traced.attached.check(&lower.hits(pid), totals) {
                emit_probe(pid, &outcome, lower);
            }
        }
    }
}

fn emit_process(attached: &Attached, lower: &mut Lower) {
    let pid = attached.pid;
    let Some(plan) = &attached.plan else { return };
    let command = process::command_line(pid);
    let command = &command[..command.floor_char_boundary(2000)];
    let record = Process { pid, name: &process::name(pid), command, engine_version: &plan.version };
    lower.emit.emit(&Record::Process(record), Weight::Essential);
    for (file, found) in attached.files.iter().zip(&plan.files) {
        let path = &file.path[..file.path.floor_char_boundary(1000)];
        let build_id = &found.build_id[..found.build_id.len().min(64)];
        let roles = found.roles.iter().fold(0, |bits, role| bits | role_bit(*role));
        let record = Library2 { pid, path, build_id, roles };
        lower.emit.emit(&Record::Library2(record), Weight::Essential);
    }
}

const fn role_bit(role: Role) -> u32 {
    match role {
        Role::Token => role::TOKEN,
        Role::Graph => role::GRAPH,
        Role::CpuGraph => role::CPU_GRAPH,
        Role::CpuOperators => role::CPU_OPERATORS,
        Role::BackendFunctions => role::BACKEND_FUNCTIONS,
        Role::NamesAndLayout => role::NAMES_AND_LAYOUT,
    }
}

pub(super) fn emit_probe(pid: u32, o: &Outcome, lower: &mut Lower) {
    let cut = |s: &'_ str| s[..s.floor_char_boundary(1000)].to_owned();
    let record = Probe {
        pid,
        level: level_bit(o.kind.level()),
        what: describe::kind(o.kind),
        symbol: &cut(&o.symbol),
        library: &cut(&o.library),
        offset: o.offset(),
        attached: o.attached(),
        note: &cut(&o.note()),
    };
    lower.emit.emit(&Record::Probe(record), Weight::Essential);
}
