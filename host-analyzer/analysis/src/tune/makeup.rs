//! Parts of a decode token of one recording, as far as the number of threads changes them.
//!
//! Stage: analysis. From: a model with captured operators. To: [`Makeup`]. Promises: its parts sum
//! to the mean time of the tokens without the probes' time. A recording that lacks data is refused
//! with the reason ([`Lacking`]).

use std::collections::{BTreeMap, HashMap};

use crate::compare::{FEWEST_TOKENS, half_width};
use crate::results::budget::{Budget, Class, TokenBudget};
use crate::results::ceiling::NoCeiling;
use crate::results::work::Works;
use crate::shared::execution::Executions;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{CeilingKind, Ends, Model, Node, Role, Text, Topology};

/// Smallest share of the spans for a CPU to count as used by the engine. This ignores short
/// migrations.
const MIN_SHARE: f64 = 0.02;

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
            Self::Settings => "settings",
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
    /// Time per token along the last arrivers, ns.
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
    pub fn compute(model: &Model, warm_up: usize) -> Result<Self, Lacking> {
        if model.capture.ends != Ends::Both {
            return Err(Lacking::Ends);
        }
        if model.capture.operators_left_out() {
            return Err(Lacking::AllOperators);
        }
        let phases = Phases::compute(model);
        let kinds = Kinds::compute(model);
        let mut worked: HashMap<u32, Vec<(Key, u64)>> = HashMap::new();
        let budget = Budget::with_operators(model, &phases, &mut |call, node, ns| {
            worked.entry(call.0).or_default().push((kinds.key(node), ns));
        });
        let tokens = tokens(model, &budget, warm_up);
        if tokens.len() < FEWEST_TOKENS {
            return Err(Lacking::Tokens { found: tokens.len(), needed: FEWEST_TOKENS, warm_up });
        }
        let n = tokens.len() as f64;
        let mean = |of: &dyn Fn(&TokenBudget) -> u64| tokens.iter().map(|t| of(t) as f64).sum::<f64>() / n;
        let class = |classes: &[Class]| mean(&|t| classes.iter().map(|c| t.wall.get(*c)).sum());
        let used = Used::compute(model, &kinds, &tokens);

        let mut shares: BTreeMap<Key, f64> = BTreeMap::new();
        for (key, ns) in tokens.iter().filter_map(|t| worked.get(&t.call)).flatten() {
            *shares.entry(*key).or_default() += *ns as f64 / n;
        }
        let slower = class(&[Class::WaitSlowerCore]);
        let shared: f64 = shares.iter().filter(|(key, _)| key.1 > 1).map(|(_, ns)| ns).sum();
        // The time that slow cores add is time of the operators that they share with fast ones.
        let longer = if shared > 0.0 { 1.0 + slower / shared } else { 1.0 };
        let share = |(key, ns): (Key, f64)| Share {
            desc: model.texts.get(key.0).to_owned(),
            rows: key.1,
            product: key.2,
            arithmetic: key.3,
            ns: if key.1 > 1 { ns * longer } else { ns },
            bytes: used.bytes.get(&key).copied().unwrap_or(0.0) / n,
        };
        let mut operators: Vec<Share> = shares.into_iter().map(share).collect();
        operators.sort_by(|a, b| b.ns.total_cmp(&a.ns));

        let probes_ns = class(&[Class::Probes]);
        let token_ns = mean(&|t| t.time_ns) - probes_ns;
        let between_ns = class(&[Class::BetweenOperators]);
        let serial_ns = class(&[Class::Application, Class::GraphPreparation]);
        let (waits_ns, taken_ns) = (class(&WAITS), class(&TAKEN));
        let all: f64 = operators.iter().map(|o| o.ns).sum();
        let times: Vec<f64> = tokens.iter().map(|t| t.time_ns as f64).collect();
        Ok(Self {
            tokens: tokens.len(),
            threads: used.threads,
            cpus: used.cpus,
            token_ns,
            half_ns: half_width(&times),
            probes_ns,
            barriers: used.executions as f64 / n,
            between_ns,
            serial_ns,
            waits_ns,
            taken_ns,
            other_ns: token_ns - all - between_ns - serial_ns - waits_ns - taken_ns,
            operators,
        })
    }
}

/// Waits for one thread, not caused by a slower core or by other tasks on its CPU.
const WAITS: [Class; 3] = [Class::WaitStartedLate, Class::WaitMoreRows, Class::WaitUneven];

/// Time that others took.
const TAKEN: [Class; 8] = [
    Class::Preempted,
    Class::Throttled,
    Class::Interrupted,
    Class::Blocked,
    Class::WaitPreempted,
    Class::WaitThrottled,
    Class::WaitInterrupted,
    Class::WaitBlocked,
];

/// The completely captured decode tokens of the process that has most of them.
fn tokens<'a>(model: &Model, budget: &'a Budget, warm_up: usize) -> Vec<&'a TokenBudget> {
    let pid = |t: &TokenBudget| model.threads.get(model.llama_calls.thread[t.call as usize]).pid;
    let mut of_process: BTreeMap<u32, Vec<&TokenBudget>> = BTreeMap::new();
    for token in budget.tokens.iter().filter(|t| t.phase == Phase::Decode) {
        of_process.entry(pid(token)).or_default().push(token);
    }
    let most = of_process.into_values().max_by_key(Vec::len).unwrap_or_default();
    most.into_iter().skip(warm_up).filter(|t| t.traced).collect()
}

/// The type of the weights that each operator reads.
struct Kinds(HashMap<(Text, Text), CeilingKind>);

impl Kinds {
    fn compute(model: &Model) -> Self {
        let mut kinds = HashMap::new();
        for topology in &model.topologies.rows {
            for node in &topology.nodes {
                if let Some(kind) = weights(model, topology, node) {
                    kinds.insert((node.name, node.desc), kind);
                }
            }
        }
        Self(kinds)
    }

    fn key(&self, node: &Node) -> Key {
        let weights = self.0.get(&(node.name, node.desc)).copied();
        // Products divide the rows of the weights, which are the elements of a row of their result.
        // All others divide their own rows.
        let rows = match weights {
            Some(_) => node.ne[0],
            None => node.ne[1].saturating_mul(node.ne[2]).saturating_mul(node.ne[3]),
        };
        (node.desc, rows.max(1), weights.is_some(), weights.unwrap_or(CeilingKind::F32))
    }
}

/// The ceiling of a product with weights: quantized types are multiplied as 8-bit integers.
fn weights(model: &Model, topology: &Topology, node: &Node) -> Option<CeilingKind> {
    if !model.texts.get(node.op).starts_with("MUL_MAT") {
        return None;
    }
    let (_, source) = node.src.iter().find(|(slot, _)| *slot == 0)?;
    let weight = topology.nodes.get(source.0 as usize).filter(|n| n.role == Role::Weight)?;
    Some(match model.texts.get(weight.dtype) {
        "f32" | "bf16" => CeilingKind::F32,
        "f16" => CeilingKind::F16,
        _ => CeilingKind::Int8,
    })
}

/// CPUs and threads used by the tokens' operators.
#[derive(Default)]
struct Used {
    threads: u32,
    cpus: Vec<u16>,
    executions: u64,
    bytes: HashMap<Key, f64>,
}

impl Used {
    fn compute(model: &Model, kinds: &Kinds, tokens: &[&TokenBudget]) -> Self {
        let mut is_one = vec![false; model.llama_calls.len()];
        tokens.iter().for_each(|t| is_one[t.call as usize] = true);
        let calls = &model.graph_calls;
        let of_one = |call: usize| calls.decode[call].is_some_and(|d| is_one[d.0 as usize]);
        let (works, rows) = (Works::compute(model), Executions::compute(model));
        let mut used = Self::default();
        for of_call in rows.calls().iter().filter(|c| of_one(c.call.0 as usize)) {
            let call = of_call.call;
            used.threads = used.threads.max(of_call.widest);
            used.executions += of_call.rows.len() as u64;
            let Some(topology) = calls.topology[call.0 as usize] else { continue };
            for e in of_call.rows.clone() {
                let key = kinds.key(model.topologies.get(topology).node(rows.node[e]));
                let work = works.execution(model, call, rows.node[e], rows.last_node[e]);
                *used.bytes.entry(key).or_default() += work.streamed_bytes() as f64;
            }
        }
        let mut spans: BTreeMap<u16, u64> = BTreeMap::new();
        for (call, cpu) in model.spans.graph_call.iter().zip(&model.spans.cpu) {
            if let Some(cpu) = cpu.filter(|_| of_one(call.0 as usize)) {
                *spans.entry(cpu).or_default() += 1;
            }
        }
        let all: u64 = spans.values().sum();
        spans.retain(|_, n| *n as f64 >= all as f64 * MIN_SHARE);
        used.cpus = spans.into_keys().collect();
        used
    }
}
