//! The thread that analyses the last seconds, with the analyses of the report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use super::news::News;
use super::speeds::Speeds;
use crate::capture::rotate::Last;
use crate::ceilings::{self, Measured, store::Store};
use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::health::Remark;
use profinfer_analysis::ladder::LadderSums;
use profinfer_trace::decode::Found;
use profinfer_trace::ingest::Ingest;
use profinfer_trace::model::{DamageKind, Model};
use profinfer_views::watch::{Engine, Seen};

/// Pause after an analysis, as a multiple of its duration. So the thread uses at most a quarter of
/// one CPU.
const REST: u32 = 3;

pub(super) struct Analyst {
    jobs: Sender<Last>,
    busy: Arc<AtomicBool>,
}

impl Analyst {
    pub(super) fn start(news: Sender<News>, measured: Option<Measured>) -> Self {
        let (jobs, asked) = channel();
        let busy = Arc::new(AtomicBool::new(false));
        let state = Arc::clone(&busy);
        thread::spawn(move || work(&asked, &news, measured.as_ref(), &state));
        Self { jobs, busy }
    }

    pub(super) fn is_free(&self) -> bool {
        !self.busy.load(Ordering::Acquire)
    }

    pub(super) fn analyse(&self, last: Last) {
        self.busy.store(true, Ordering::Release);
        let _ = self.jobs.send(last);
    }
}

fn work(asked: &Receiver<Last>, news: &Sender<News>, measured: Option<&Measured>, busy: &AtomicBool) {
    let (mut speeds, mut sums) = (Speeds::default(), LadderSums::default());
    let store = Store::of_user();
    while let Ok(last) = asked.recv() {
        let begun = Instant::now();
        if let Some(mut seen) = seen(&last, measured, store.as_ref(), &mut sums) {
            speeds.add(&seen.analysis.budget.tokens);
            seen.speeds = speeds.all().collect();
            if news.send(News::Seen(Box::new(seen))).is_err() {
                return;
            }
        }
        thread::sleep(begun.elapsed() * REST);
        busy.store(false, Ordering::Release);
    }
}

/// Results and findings of the last seconds. `None` if they cannot be read.
/// `sums` receives the ladders of the calls that it has not seen.
pub(super) fn seen(
    last: &Last,
    measured: Option<&Measured>,
    store: Option<&Store>,
    sums: &mut LadderSums,
) -> Option<Seen> {
    let mut model = profinfer_trace::read(&last.stream).ok()?;
    damage(&mut model, last);
    ceilings::complete(&mut model, measured, store);
    // If several engines run, show the one that called last: figures of several engines together
    // have no meaning.
    let engines = model.engines().len();
    let latest = model.latest_engine().filter(|_| engines > 1);
    if let Some(pid) = latest {
        model = model.only(pid);
    }
    let engine = latest.map(|pid| {
        let name = model.session.processes.last().map_or_else(String::new, |p| p.name.clone());
        Engine { pid, name, of: engines }
    });
    let mut analysis = Analysis::compute(&model);
    analysis.health.remarks.retain(of_the_session);
    let findings = Findings::compute(&model, &analysis);
    let spans = model.spans.len() as u64;
    sums.add(&model, &analysis.phases, &analysis.replay);
    let totals = sums.latest().map_or_else(Vec::new, |pid| sums.of(pid));
    let window_ns = length(&model);
    Some(Seen { window_ns, spans, engine, analysis, findings, totals, speeds: Vec::new() })
}

/// True if a remark on a part of a running session applies to the session. Spans between the kernel
/// and the link are not lost yet. Frames that were lost on the way count as damage.
const fn of_the_session(remark: &Remark) -> bool {
    !matches!(
        remark,
        Remark::Piece { .. }
            | Remark::NotHere { .. }
            | Remark::Complete { .. }
            | Remark::NothingSeen { .. }
            | Remark::CallsNotSeen
            | Remark::Ending(_)
    )
}

/// Reports the damage since the session began, not only that of the last seconds. Waits and sums
/// depend on the damage in the last seconds alone.
fn damage(model: &mut Model, last: &Last) {
    let mut session = Ingest::new();
    for damage in &last.damage {
        session.found(&Found::Damage(*damage));
    }
    let health = session.finish().health;
    let unresolved = model.health.damage.iter().filter(|d| d.kind == DamageKind::Unresolved);
    let damage = health.damage.iter().chain(unresolved).copied().collect();
    (model.health.damage, model.health.skipped) = (damage, health.skipped);
}

/// From the start of the first call in the tables to the end of the last one, ns.
fn length(model: &Model) -> u64 {
    let (d, g) = (&model.llama_calls, &model.graph_calls);
    let begins = || d.start_ns.iter().chain(&g.start_ns);
    let lengths = d.duration_ns.iter().chain(&g.duration_ns);
    let end = begins().zip(lengths).map(|(from, ns)| from.saturating_add(*ns)).max();
    end.zip(begins().min()).map_or(0, |(end, begin)| end - begin)
}
