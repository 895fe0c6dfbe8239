//! Records about the session: its identity, its counters, its losses, its end.

use nix::unistd::{SysconfVar, sysconf};
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::Counter;
use profinfer_wire::record::loss::{End, EndReason, Loss};
use profinfer_wire::record::session::{Agent, Session as SessionRecord};

use super::identity::cpu_model;
use crate::bpf::Bpf;
use crate::clock;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::observe::cost;
use crate::observe::cost::sample;
use crate::observe::counter::{Counters, pmu};

/// Sends the identity of the session and the machine.
pub(super) fn introduce(board: &str, levels: u32, emit: &mut Emitter) {
    let uname = nix::sys::utsname::uname().ok();
    let of = |s: Option<&std::ffi::OsStr>| s.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let (kernel, machine) =
        (of(uname.as_ref().map(|u| u.release())), of(uname.as_ref().map(|u| u.machine())));
    let now = clock::all();
    let record = SessionRecord {
        wire_version: WIRE_VERSION,
        agent: env!("CARGO_PKG_VERSION"),
        kernel: &kernel,
        machine: &machine,
        cpu_model: &cpu_model(),
        board,
        cpus: online_cpus(),
        levels,
        start_ns: now.monotonic_ns,
        start_unix_ns: now.realtime_ns,
    };
    emit.emit(&Record::Session(record), Weight::Essential);
    emit.emit(&Record::Agent(Agent { pid: std::process::id() }), Weight::Essential);
    emit.emit(&Record::Clock(now), Weight::Essential);
}

/// Online CPUs. The affinity and the cgroup quota of the agent do not matter.
fn online_cpus() -> u16 {
    let online = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten();
    online.map_or(0, |n| u16::try_from(n).unwrap_or(u16::MAX))
}

pub(super) fn emit_counters(counters: &Counters, lower: &mut Lower) {
    lower.counter_slots = (counters.slots, counters.hardware);
    for c in &counters.all {
        let cpus = pmu::list_of(&c.cpus);
        let record = Counter {
            slot: u8::try_from(c.slot).unwrap_or(u8::MAX),
            name: &c.name[..c.name.floor_char_boundary(100)],
            event: c.event,
            pmu: &c.pmu,
            cpus: &cpus,
            attached: c.refused.is_empty(),
            note: &c.refused,
        };
        lower.emit.emit(&Record::Counter(record), Weight::Essential);
    }
}

pub(super) fn emit_heartbeat(bpf: &Bpf<'_>, lower: &mut Lower) {
    lower.emit.emit(&Record::Clock(clock::all()), Weight::Droppable);
    let loss = emit_losses(bpf, lower, Weight::Droppable);
    lower.emit.emit(&Record::Loss(loss), Weight::Droppable);
}

/// Sends the losses of nested calls, experts and other levels. Returns the ledger of everything
/// else, of the same moment.
fn emit_losses(bpf: &Bpf<'_>, lower: &mut Lower, weight: Weight) -> Loss {
    let (now, totals) = (clock::monotonic_ns(), bpf.totals());
    lower.emit_nested_loss(now, &bpf.nested_totals(), weight);
    lower.emit_sched_loss(lower.drained_ns, &bpf.sched_totals(), weight);
    lower.emit_cpu_use_loss(lower.drained_ns, &bpf.cpu_use_totals(), weight);
    lower.emit_expert_loss(now, &totals, weight);
    lower.emit_part_loss(now, &totals, weight);
    lower.emit_direct_loss(now, weight);
    lower.emit_capture_loss(now, &totals, weight);
    lower.emit_loss_reasons(now, &totals, weight);
    lower.loss(now, &totals)
}

pub(super) fn end(reason: EndReason, bpf: &Bpf<'_>, lower: &mut Lower) -> End {
    let (bpf_run_ns, bpf_runs) = sample::runs(bpf);
    let loss = emit_losses(bpf, lower, Weight::Essential);
    End {
        reason,
        frames: lower.emit.frames(),
        loss,
        bpf_run_ns,
        bpf_runs,
        agent_cpu_ns: cost::cpu_ns(),
        agent_rss_bytes: cost::peak_rss_bytes(),
    }
}
