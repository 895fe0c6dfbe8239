//! Ceilings before a session, and ceilings as a separate file.

use std::path::Path;
use std::time::Duration;

use profinfer_wire::record::Record;
use profinfer_wire::record::loss::{End, EndReason, Loss};

use super::{identity, records};
use crate::clock;
use crate::error::{Diagnostic, Result, log};
use crate::link::Output;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::observe::bench::ceiling::{Ceiling, CeilingKind, name, size};
use crate::observe::bench::{self, Options};
use crate::observe::cost;
use crate::observe::counter::pmu;
use crate::observe::fact::Facts;
use crate::request::plan::{self, BenchRequest, Plan};
use crate::session::host::Host;
use crate::signals::Signals;
use crate::target::process::{self, Target};

/// Measures and logs each ceiling. `next` receives each one, and returns false to stop.
///
/// # Errors
/// See [`bench::run`].
pub fn measure(options: &Options, next: &mut dyn FnMut(&Ceiling) -> bool) -> Result<Vec<Ceiling>> {
    let mut all = Vec::new();
    bench::run(options, &mut |ceiling, number, of| {
        let value = match &*ceiling.points {
            [] => "not measured".to_owned(),
            [one] => ceiling.say(one.spread.median),
            [first, .., last] => {
                let at = |p: &bench::Point| format!("{} in {}", ceiling.say(p.spread.median), size(p.bytes));
                format!("{} to {}", at(first), at(last))
            }
        };
        let (name, cpus) = (name(ceiling.kind), pmu::list_of(&ceiling.cpus));
        let how = if ceiling.how.is_empty() { String::new() } else { format!(" ({})", ceiling.how) };
        let beside = ceiling.load.as_ref().and_then(beside).unwrap_or_default();
        log(&format!("[{number}/{of}] {name}{how} on CPUs {cpus}: {value}{beside}"));
        all.push(ceiling.clone());
        next(ceiling)
    })?;
    Ok(all)
}

/// What other programs used meanwhile, if it is more than a tenth of a CPU and two ticks: then the
/// figures may be too low.
fn beside(load: &bench::Load) -> Option<String> {
    const TICKS_NS: u64 = 20_000_000;
    let wall = u64::try_from(load.wall.as_nanos()).ok().filter(|ns| *ns > 0)?;
    (load.others_ns > wall / 10 + TICKS_NS).then(|| {
        let cpus = load.others_ns as f64 / wall as f64;
        let most =
            if load.pid > 0 { format!(", most by {} ({})", load.name, load.pid) } else { String::new() };
        format!("; others used {cpus:.1} CPUs{most}")
    })
}

/// Measures the ceilings that the plan requests, and sends them. A session matters more than its
/// ceilings: if they cannot be measured, it starts without them and the host receives the reason.
///
/// # Errors
/// If the host or a signal ended it.
pub(super) fn before(
    plan: &Plan,
    target: &Target,
    emit: &mut Emitter,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<()> {
    let Some(request) = &plan.bench else { return Ok(()) };
    let options = Options { engine: competitor(target), ..options(request) };
    if let Some(pid) = options.engine {
        log(&format!(
            "the engine process {pid} is already running\n  it disturbs the measurement; run `profinfer-agent bench` before the engine starts"
        ));
    }
    log("measuring the ceilings of this board before the session; start the engine afterwards");
    let mut stopped = false;
    let measured = measure(&options, &mut |ceiling| {
        send(ceiling, emit);
        // Keeps hosts on a serial line from timing out.
        emit.emit(&Record::Clock(clock::all()), Weight::Droppable);
        emit.flush();
        stopped = signals.asked_to_end() || host.step(emit);
        !stopped
    });
    if let Err(e) = &measured {
        log(&e.to_string());
        let none = Ceiling::new(CeilingKind::Read, "", &[], "", 0, Vec::new(), &e.to_string());
        send(&none, emit);
    }
    // The measurement has freed its memory, which must not count as the peak of the session.
    cost::forget_peak_rss();
    if stopped {
        let help = "start again; omit the ceilings if they take too long";
        return Err(Diagnostic::new("measuring the ceilings of this board", "interrupted", help));
    }
    Ok(())
}

/// Sends the record that older hosts know, then the points and the load.
fn send(ceiling: &Ceiling, emit: &mut Emitter) {
    ceiling.record(|r| emit.emit(&Record::Ceiling(r), Weight::Essential));
    ceiling.point_records(&mut |r| {
        emit.emit(&Record::CeilingPoint(r), Weight::Essential);
    });
    ceiling.load_record(|r| emit.emit(&Record::CeilingLoad(r), Weight::Essential));
}

fn options(request: &BenchRequest) -> Options {
    Options {
        cpus: request.cpus.clone(),
        threads: request.threads.clone(),
        budget: Duration::from_millis(request.budget_ms.into()),
        engine: None,
    }
}

/// The engine process that is already running, if any.
fn competitor(target: &Target) -> Option<u32> {
    match target {
        Target::Pid { pid, .. } => Some(*pid).filter(|pid| process::alive(*pid)),
        Target::Name { name, .. } => process::find(name).first().copied(),
        Target::Command { .. } => None,
    }
}

/// Writes the ceilings as a recording of a session without engines.
///
/// # Errors
/// If they cannot be written.
pub fn write(ceilings: &[Ceiling], output: Output) -> Result<()> {
    let mut emit = Emitter::begin(output, identity::nonce()?);
    records::introduce(plan::UNKNOWN, 0, &mut emit);
    // They identify the machine: the host uses its ceilings for other recordings of it.
    let _ = Facts::begin(Path::new("/"), &mut emit);
    for ceiling in ceilings {
        send(ceiling, &mut emit);
    }
    let now = clock::all();
    emit.emit(&Record::Clock(now), Weight::Essential);
    let end = End {
        reason: EndReason::EngineEnded,
        frames: emit.frames(),
        loss: Loss { at_ns: now.monotonic_ns, ..Loss::default() },
        bpf_run_ns: 0,
        bpf_runs: 0,
        // There was no session, so it has no cost.
        agent_cpu_ns: 0,
        agent_rss_bytes: 0,
    };
    emit.emit(&Record::End(end), Weight::Essential);
    emit.flush();
    emit.output().error().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_competes() {
        let own = std::process::id();
        let process = |pid| competitor(&Target::Pid { pid, follow: false });
        assert_eq!((process(own), process(u32::MAX / 2)), (Some(own), None));
        assert_eq!(
            competitor(&Target::Command { command: vec![], stdout_to_stderr: false, user: None }),
            None
        );
        assert_eq!(competitor(&Target::Name { name: "no such engine".into(), restarts: false }), None);
    }
}
