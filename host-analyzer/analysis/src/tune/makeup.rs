//! Parts of a decode token of one recording, as far as the number of threads changes them.
//!
//! Stage: analysis. From: the replay of a model with captured operators. To: [`Makeup`]. Promises:
//! its parts sum to the mean time of the tokens without the probes' time. A recording that lacks
//! data is refused with the reason ([`Lacking`]).

use std::collections::BTreeMap;

use crate::Analysis;
use crate::compare::{FEWEST_CALLS, half_width};
use crate::replay::{CallReplay, Cause, Class, Replay};
use crate::results::budget::speeds;
use crate::results::ceiling::NoCeiling;
use crate::results::ceiling::limit::arithmetic_of;
use crate::shared::phase::Phase;
use profinfer_trace::model::{CeilingKind, Ends, Model, Text};

/// What is missing for a prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lacking {
    /// Too few completely captured decode tokens.
    Tokens {
        found: usize,
        /// Tokens that are needed after the excluded ones.
        needed: usize,
        /// Excluded tokens at the beginning.
        warm_up: usize,
    },
    /// End probes: without them waits cannot be distinguished from work.
    Ends,
    /// All operators: a filter excluded some.
    AllOperators,
    /// Any ceiling.
    Ceilings,
    /// The ceiling of the recorded setting.
    Ceiling {
        kind: CeilingKind,
        /// Threads of the recorded setting.
        threads: u32,
        why: NoCeiling,
    },
    /// Ceilings of a second setting: there is nothing else to predict.
    Settings,
    /// The same, because a ceiling of another setting is doubtful.
    DoubtfulSetting {
        kind: CeilingKind,
        /// Threads of the other setting.
        threads: u32,
        why: NoCeiling,
    },
}

impl Lacking {
    /// Stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Tokens { .. } => "tokens",
            Self::Ends => "ends",
            Self::AllOperators => "all_operators",
            Self::Ceilings => "ceilings",
            Self::Ceiling { .. } => "ceiling",
            Self::Settings | Self::DoubtfulSetting { .. } => "settings",
        }
    }
}

/// Operators that scale alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Description by the engine.
    pub desc: String,
    /// Rows: the engine divides an operator by rows among its threads.
    pub rows: u64,
    /// It is a product with weights, whose rows the engine hands out to threads on demand, in
    /// pieces.
    pub product: bool,
    /// The ceiling of its arithmetic.
    pub arithmetic: CeilingKind,
    /// Usual time per token, ns; on cores of several speeds with the waits for slow ones.
    pub ns: f64,
    /// Weights and KV cache that it reads per token, bytes.
    pub bytes: f64,
}

/// A mean decode token.
#[derive(Debug, Clone, PartialEq)]
pub struct Makeup {
    /// Tokens that the figures cover.
    pub tokens: usize,
    /// Largest number of threads that computed an operator together.
    pub threads: u32,
    /// CPUs on which they ran.
    pub cpus: Vec<u16>,
    /// Its time without the probes' time, ns.
    pub token_ns: f64,
    /// Half width of its 95 % interval, ns; `None` for few tokens.
    pub half_ns: Option<f64>,
    /// Time of the probes, ns; excluded from everything else.
    pub probes_ns: f64,
    /// Longest first.
    pub operators: Vec<Share>,
    /// Executed operators, each followed by a barrier.
    pub barriers: f64,
    /// Between operators, ns: barriers and dispatch.
    pub between_ns: f64,
    /// On one thread, outside of graphs, ns: sampling, the application, building the graph.
    pub serial_ns: f64,
    /// Waiting for one thread that began late or had more work, ns: zero with a single thread.
    pub waits_ns: f64,
    /// Time taken by others, ns: other tasks, quotas, interrupts, disks, and waiting for a thread
    /// that these delayed.
    pub taken_ns: f64,
    /// The rest, ns: other backends, unknown time.
    pub other_ns: f64,
}

/// Identity of operators that scale alike.
type Key = (Text, u64, bool, CeilingKind);

impl Makeup {
    /// The parts of the decode tokens after the first `warm_up`.
    ///
    /// # Errors
    ///
    /// What the recording lacks.
    pub fn compute(model: &Model, analysis: &Analysis, warm_up: usize) -> Result<Self, Lacking> {
        if model.capture.ends != Ends::Both {
            return Err(Lacking::Ends);
        }
        if model.capture.operators_left_out() {
            return Err(Lacking::AllOperators);
        }
        let (replay, roof) = (&analysis.replay, analysis.roof.phase(analysis.phases.decode));
        let phase = analysis.phases.decode;
        let tokens = tokens(model, replay, phase, warm_up);
        if tokens.len() < FEWEST_CALLS {
            return Err(Lacking::Tokens { found: tokens.len(), needed: FEWEST_CALLS, warm_up });
        }
        let n = tokens.len() as f64;
        let mean = |of: &dyn Fn(&CallReplay) -> u64| tokens.iter().map(|t| of(t) as f64).sum::<f64>() / n;

        // The classes' sums cover all captured calls, also those that warm up.
        let calls = replay.phase(phase).filter(|c| c.traced).count() as f64;
        let times = &replay.class_times[phase.index()];
        let all: f64 = times.iter().map(|t| t.usual.work as f64).sum();
        let scale = if all > 0.0 { mean(&|c| c.usual.work) / all } else { 0.0 };
        let mixed = mixed(model, &roof.cpus);
        let mut shares: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
        for (class, times) in replay.classes.iter().zip(times).filter(|(_, t)| t.instances > 0) {
            let key = key(model, class);
            let (ns, bytes) = shares.entry(key).or_default();
            // On cores of several speeds, threads wait for the slow ones where they share an
            // operator: that is its time.
            let longer = if mixed && key.1 > 1 { times.usual.imbalance } else { 0 };
            *ns = ns.saturating_add(times.usual.work).saturating_add(longer);
            *bytes = bytes.saturating_add(times.work.streamed_bytes());
        }
        let share = |(key, (ns, bytes)): (Key, (u64, u64))| Share {
            desc: model.texts.get(key.0).to_owned(),
            rows: key.1,
            product: key.2,
            arithmetic: key.3,
            ns: ns as f64 * scale,
            bytes: bytes as f64 / calls,
        };
        let mut operators: Vec<Share> = shares.into_iter().map(share).collect();
        operators.sort_by(|a, b| b.ns.total_cmp(&a.ns));

        let probes_ns = mean(&|c| c.usual.probes);
        let token_ns = mean(&|c| c.time_ns) - probes_ns;
        let between_ns = mean(&|c| c.usual.dispatch);
        let serial_ns = mean(&CallReplay::serial_ns);
        let taken_ns = mean(&taken);
        let work: f64 = operators.iter().map(|o| o.ns).sum();
        let waits_ns = (mean(&|c| c.usual.work.saturating_add(c.usual.imbalance)) - work).max(0.0);
        let times_of_tokens: Vec<f64> = tokens.iter().map(|t| t.time_ns as f64).collect();
        Ok(Self {
            tokens: tokens.len(),
            threads: roof.threads,
            cpus: roof.cpus.clone(),
            token_ns,
            half_ns: half_width(&times_of_tokens),
            probes_ns,
            barriers: times.iter().map(|t| t.instances as f64).sum::<f64>() / calls,
            between_ns,
            serial_ns,
            waits_ns,
            taken_ns,
            other_ns: token_ns - work - between_ns - serial_ns - waits_ns - taken_ns,
            operators,
        })
    }
}

/// Time that others took. Waking threads is the engine's own way of waiting.
fn taken(call: &CallReplay) -> u64 {
    let own = call.caused.get(Cause::WakeUp).saturating_add(call.caused.get(Cause::Asleep));
    call.caused.total().saturating_sub(own)
}

/// The completely captured decode tokens of the process that has most of them.
fn tokens<'a>(model: &Model, replay: &'a Replay, phase: Phase, warm_up: usize) -> Vec<&'a CallReplay> {
    let pid = |c: &CallReplay| model.threads.get(model.llama_calls.thread[c.call.0 as usize]).pid;
    let mut of_process: BTreeMap<u32, Vec<&CallReplay>> = BTreeMap::new();
    for token in replay.phase(phase) {
        of_process.entry(pid(token)).or_default().push(token);
    }
    let most = of_process.into_values().max_by_key(Vec::len).unwrap_or_default();
    most.into_iter().skip(warm_up).filter(|t| t.traced).collect()
}

/// These CPUs have several speeds.
fn mixed(model: &Model, cpus: &[u16]) -> bool {
    let speeds = speeds(model);
    let mut of_cpus = cpus.iter().filter_map(|cpu| speeds.get(usize::from(*cpu)));
    of_cpus.next().is_some_and(|first| of_cpus.any(|other| other != first))
}

fn key(model: &Model, class: &Class) -> Key {
    let product = class.weights && model.texts.get(class.op).starts_with("MUL_MAT");
    // Products divide the rows of the weights, which are the elements of a row of their result. All
    // others divide their own rows.
    let (rows, arithmetic) = if product {
        (class.ne[0], arithmetic_of(model.texts.get(class.dtype)))
    } else {
        let rows = class.ne[1..].iter().fold(1_u64, |product, n| product.saturating_mul(*n));
        (rows, CeilingKind::F32)
    };
    (class.desc, rows.max(1), product, arithmetic)
}
