//! Data of one recording for a comparison: the times of its tokens in parts, and its environment.

use std::collections::{BTreeMap, HashMap};

use super::environment::Environment;
use super::read;
use crate::results::budget::{Budget, Class};
use crate::shared::name::without_layer;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{Ends, Model, Text};

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
}

/// A part of a token's time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leaf {
    /// Class of the budget.
    pub class: Class,
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
        let mut worked: HashMap<u32, HashMap<(Text, Text), u64>> = HashMap::new();
        let budget = Budget::with_operators(model, &phases, &mut |call, node, ns| {
            *worked.entry(call.0).or_default().entry((node.desc, node.name)).or_default() += ns;
        });
        let (pid, calls) = most_used(model, &phases);
        let class_of_work = if model.capture.ends == Ends::Both { Class::Work } else { Class::WorkAndWait };
        let mut leaves = Leaves::default();
        let mut tokens = Vec::with_capacity(calls.len());
        let chosen: HashMap<u32, &_> = budget.tokens.iter().map(|t| (t.call, t)).collect();
        for call in &calls {
            let Some(token) = u32::try_from(*call).ok().and_then(|c| chosen.get(&c)) else { continue };
            let mut parts: BTreeMap<u32, i64> = BTreeMap::new();
            for (class, ns) in token.wall.iter() {
                *parts.entry(leaves.id(class, "", "")).or_default() += ns.cast_signed();
            }
            let rest = leaves.id(class_of_work, "", "");
            for ((desc, name), ns) in worked.get(&token.call).into_iter().flatten() {
                let tensor = without_layer(model.texts.get(*name));
                let leaf = leaves.id(class_of_work, model.texts.get(*desc), &tensor);
                *parts.entry(leaf).or_default() += ns.cast_signed();
                *parts.entry(rest).or_default() -= ns.cast_signed();
            }
            tokens.push(Token {
                position: phases.contexts[*call].n_past,
                traced: token.traced,
                time_ns: token.time_ns,
                parts: parts.into_iter().filter(|(_, ns)| *ns != 0).collect(),
            });
        }
        let all = decode_calls(model, &phases).count();
        Self {
            start_unix_ns: model.session.start_unix_ns,
            start_ns: model.session.start_ns,
            other_calls: (all - calls.len()) as u64,
            environment: read::environment(model, &phases, pid, &calls),
            tokens,
            scheduler: budget.scheduler,
            leaves: leaves.rows,
        }
    }
}

#[derive(Default)]
struct Leaves {
    rows: Vec<Leaf>,
    ids: HashMap<Leaf, u32>,
}

impl Leaves {
    fn id(&mut self, class: Class, op: &str, tensor: &str) -> u32 {
        let leaf = Leaf { class, op: op.to_owned(), tensor: tensor.to_owned() };
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
    let ok = |i: &usize| phases.llama_calls[*i] == Phase::Decode && model.llama_calls.status[*i] == 0;
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
