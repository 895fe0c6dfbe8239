//! The end of processes and of the session: removes probes, drops old state, and explains why
//! nothing was traced.

use super::Tracer;
use crate::error::{Diagnostic, log};
use crate::probes::operators::Operators;
use crate::probes::outcome::Outcome;
use crate::target::catch::Wanted;
use crate::target::process;

/// Ended engines that are remembered while the agent waits for others of the same name: a session
/// may run for days.
const ENDED_KEPT: usize = 8;

impl Tracer<'_, '_> {
    /// Detects processes that have ended and removes their probes. Their files may change from now
    /// on, and new processes need their slots in the programs.
    pub fn look_alive(&mut self) {
        let waiting_for = self.waiting_for.as_ref().map(|w| &w.wanted);
        let mut was_watched = false;
        for gone in self.processes.iter_mut().filter(|p| p.ended) {
            // Collects the threads that removed its probes.
            gone.attached.operators_out();
        }
        for traced in self.processes.iter_mut().filter(|p| !p.ended && !process::alive(p.attached.pid)) {
            traced.ended = true;
            traced.attached.ended(self.bpf, &mut self.watch);
            if let (Some(Wanted::Named(name)), None) = (waiting_for, &traced.attached.plan) {
                let pid = traced.attached.pid;
                log(&format!(
                    "process {pid} ({name}) ended without loading a GGML engine: waiting for others"
                ));
            }
            was_watched |= std::mem::take(&mut traced.watched);
        }
        if waiting_for.is_some() {
            self.processes.retain(|p| !p.ended || p.attached.plan.is_some());
            // Everything about the older ones has been reported.
            let ended = self.processes.iter().filter(|p| p.ended).count();
            let mut old = ended.saturating_sub(ENDED_KEPT);
            self.processes.retain(|p| {
                let forgotten = p.ended && old > 0;
                old -= usize::from(forgotten);
                self.forgot |= forgotten;
                !forgotten
            });
        }
        if was_watched && self.processes.iter().all(|p| !p.watched) {
            self.watch.leave();
        }
    }

    /// Whether a process was dropped since the last call.
    pub fn forgot_any(&mut self) -> bool {
        std::mem::take(&mut self.forgot)
    }

    /// Everything that was to be traced has ended.
    #[must_use]
    pub fn finished(&self) -> bool {
        let all_ended = self.processes.iter().all(|p| p.ended);
        match (&self.child, &self.waiting_for) {
            (Some(child), _) => child.exit.is_some() && all_ended,
            (None, Some(waiting)) => {
                // Awaited processes that are not engines do not count.
                let engines_ended = self.processes.iter().all(|p| p.ended || p.attached.plan.is_none());
                engines_ended
                    && match waiting.wanted {
                        Wanted::Named(_) => !waiting.restarts && self.seen_any,
                        // It may start another one while it runs.
                        Wanted::Below(root) => !process::alive(root),
                    }
            }
            (None, None) => all_ended,
        }
    }

    /// The awaited name, if no process of that name appeared.
    #[must_use]
    pub fn waited_for_nobody(&self) -> Option<&str> {
        match self.waits_for() {
            Some(Wanted::Named(name)) if !self.met_any => Some(name),
            _ => None,
        }
    }

    /// Explains why nothing was traced, if nothing was.
    #[must_use]
    pub fn nothing_traced(&self) -> Option<Diagnostic> {
        let nothing_came = self.waiting_for.is_some() && self.processes.is_empty();
        if nothing_came || self.processes.iter().any(|p| p.attached.probes() > 0) {
            return None;
        }
        let tried = match &self.child {
            Some(child) => format!("tracing `{}`", child.command),
            None => "tracing the engine".to_owned(),
        };
        let reason = |o: &Outcome| format!("{}: {}", o.symbol, o.note());
        let refused: Vec<String> =
            self.processes.iter().flat_map(|p| p.attached.refused()).map(reason).collect();
        if !refused.is_empty() && self.processes.iter().all(|p| p.ended) {
            // An ending engine unloads its backends, so missing files mean nothing at that point.
            let help = "start the engine after the agent reports that it waits, or let the engine run longer";
            let answer =
                format!("the engine ended while its probes were being attached: {}", refused.join("; "));
            return Some(Diagnostic::new(tried, answer, help));
        }
        let missing = self.processes.iter().flat_map(|p| p.attached.missing());
        let reasons: Vec<String> = refused.into_iter().chain(missing.map(|o| reason(&o))).collect();
        Some(if reasons.is_empty() {
            let help = "check that it runs llama.cpp or another GGML engine; `profinfer-agent engine FILE` shows \
                        what a file offers";
            Diagnostic::new(tried, "no part of a GGML engine was found in its mapped files", help)
        } else {
            let help = "use a build of the engine that is not stripped, or one with shared libraries";
            Diagnostic::new(tried, format!("no probe could be attached: {}", reasons.join("; ")), help)
        })
    }

    /// Removes all probes and releases all watched processes.
    pub fn detach(&mut self) {
        // Before the calls to which operators belong disappear.
        for traced in &self.processes {
            if let Operators::Direct(installed) = &traced.attached.operators {
                installed.pause();
            }
        }
        self.bpf.stop();
        self.waiting_for = None;
        for traced in &mut self.processes {
            traced.attached.detach(self.bpf, &mut self.watch);
        }
        self.watch.leave();
        let begun = std::time::Instant::now();
        while self.watch.active() && begun.elapsed() < std::time::Duration::from_secs(1) {
            if let Some(stop) = self.watch.poll() {
                self.watch.resume(stop);
            } else {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    }
}
