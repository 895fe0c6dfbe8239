//! Data of one recording for a comparison: the times of its tokens in parts, and its environment.

use std::collections::{BTreeMap, HashMap};

use super::environment::Environment;
use super::read;
use crate::ladder::{Programs, StepKind, steps_of};
use crate::replay::{CallReplay, Culprit, Replay};
use crate::results::fact::Conditions;
use crate::results::module::Places;
use crate::shared::name::without_layer;
use crate::shared::phase::Phases;
use profinfer_trace::model::{LlamaCallId, Model, Text, Traced};

#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Start, ns since 1970.
    pub start_unix_ns: u64,
    /// The session's own clock at its start, ns. Together with the time above it identifies a
    /// recording.
    pub start_ns: u64,
    /// Decode tokens, in order, of the context that has most of them.
    pub tokens: Vec<Token>,
    /// Decode calls of other contexts and processes, which are ignored.
    pub other_calls: u64,
    /// Its work and its environment.
    pub environment: Environment,
    /// The scheduler level was recorded.
    pub scheduler: bool,
    /// The parts into which tokens are split.
    pub leaves: Vec<Leaf>,
    /// The programs of their steps.
    pub programs: Programs,
}

/// A part of a token's time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leaf {
    /// Step of the ladder; the operators are one step, because their limits are those of a recording.
    pub step: StepKind,
    /// Operator as described by the engine; empty for time outside of operators.
    pub op: String,
    /// Name of the tensors that it computed, without the layer number.
    pub tensor: String,
}

/// One decode token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Token {
    /// Position of the token in its sequence; `None` when unknown.
    pub position: Option<u32>,
    /// Its operators were completely captured.
    pub traced: bool,
    /// From the end of the previous call to the end of its own, ns.
    pub time_ns: u64,
    /// That time by leaf, as positions in [`Run::leaves`], ns. They sum to the time. A negative
    /// part compensates operators that claim too much.
    pub parts: Vec<(u32, i64)>,
}

impl Run {
    /// Extracts the run of a recording.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        let phases = Phases::compute(model);
        let conditions = Conditions::compute(model, &phases);
        let (pid, calls) = most_used(model, &phases);
        let mut operators = Operators::new(model.llama_calls.len(), &calls);
        let replay = Replay::with_operators(model, &phases, &conditions, &Places::compute(model), &mut |o| {
            operators.add(o.call, (o.other_backend, o.node.desc, o.node.name), o.ns);
        });
        let by_call: HashMap<LlamaCallId, &CallReplay> = replay.calls.iter().map(|c| (c.call, c)).collect();
        let mut programs = Programs::default();
        let ids = programs.ids(replay.culprits.iter().map(Culprit::program));
        let mut leaves = Leaves::default();
        let mut tokens = Vec::with_capacity(calls.len());
        for call in &calls {
            let id = LlamaCallId(u32::try_from(*call).unwrap_or(u32::MAX));
            let Some(token) = by_call.get(&id) else { continue };
            let mut parts: BTreeMap<u32, i64> = BTreeMap::new();
            for (step, ns) in steps_of(token) {
                *parts.entry(leaves.id(step.renumbered(&ids), "", "")).or_default() += ns.cast_signed();
            }
            for ((other_backend, desc, name), ns) in operators.of(id) {
                let step = if *other_backend { StepKind::OtherBackend } else { StepKind::AboveFloor };
                let tensor = without_layer(model.texts.get(*name));
                let leaf = leaves.id(step, model.texts.get(*desc), &tensor);
                *parts.entry(leaf).or_default() += ns.cast_signed();
                *parts.entry(leaves.id(step, "", "")).or_default() -= ns.cast_signed();
            }
            tokens.push(Token {
                position: phases.contexts[*call].n_past,
                traced: phases.tracing.llama_calls[*call] == Traced::Whole,
                time_ns: token.time_ns,
                parts: parts.into_iter().filter(|(_, ns)| *ns != 0).collect(),
            });
        }
        let all = decode_calls(model, &phases).count();
        Self {
            start_unix_ns: model.session.start_unix_ns,
            start_ns: model.session.start_ns,
            other_calls: (all - calls.len()) as u64,
            environment: read::environment(model, &phases, &conditions, pid, &calls),
            tokens,
            scheduler: replay.scheduler,
            leaves: leaves.rows,
            programs,
        }
    }
}

/// An operator on another backend or not, its description, and its tensor.
type Operator = (bool, Text, Text);

/// Times of the operators of the compared calls, ns.
struct Operators(Vec<Option<HashMap<Operator, u64>>>);

impl Operators {
    fn new(calls: usize, compared: &[usize]) -> Self {
        let mut rows = vec![None; calls];
        compared.iter().for_each(|call| rows[*call] = Some(HashMap::new()));
        Self(rows)
    }

    fn add(&mut self, LlamaCallId(call): LlamaCallId, operator: Operator, ns: u64) {
        if let Some(Some(sums)) = self.0.get_mut(call as usize) {
            *sums.entry(operator).or_default() += ns;
        }
    }

    fn of(&self, LlamaCallId(call): LlamaCallId) -> impl Iterator<Item = (&Operator, &u64)> {
        self.0.get(call as usize).into_iter().flatten().flatten()
    }
}

#[derive(Default)]
struct Leaves {
    rows: Vec<Leaf>,
    ids: HashMap<Leaf, u32>,
}

impl Leaves {
    fn id(&mut self, step: StepKind, op: &str, tensor: &str) -> u32 {
        let leaf = Leaf { step, op: op.to_owned(), tensor: tensor.to_owned() };
        if let Some(id) = self.ids.get(&leaf) {
            return *id;
        }
        let id = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push(leaf.clone());
        self.ids.insert(leaf, id);
        id
    }
}

fn decode_calls<'a>(model: &'a Model, phases: &'a Phases) -> impl Iterator<Item = usize> + 'a {
    let ok = |i: &usize| phases.llama_calls[*i] == phases.decode && model.llama_calls.status[*i] == 0;
    (0..model.llama_calls.len()).filter(ok)
}

/// The process, and the decode calls of the context that has most of them; if equal, of the first.
fn most_used(model: &Model, phases: &Phases) -> (u32, Vec<usize>) {
    let mut of_context: BTreeMap<(u32, u64), Vec<usize>> = BTreeMap::new();
    for i in decode_calls(model, phases) {
        let pid = model.threads.get(model.llama_calls.thread[i]).pid;
        of_context.entry((pid, model.llama_calls.context[i])).or_default().push(i);
    }
    let most = of_context
        .into_iter()
        .max_by_key(|(_, calls)| (calls.len(), std::cmp::Reverse(calls.first().copied())));
    most.map_or_else(Default::default, |((pid, _), calls)| (pid, calls))
}
