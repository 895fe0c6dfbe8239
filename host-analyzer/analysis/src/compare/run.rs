//! Data of one recording for a comparison: the times of its calls in parts, and its environment.

use std::collections::{BTreeMap, HashMap};

use super::environment::Environment;
use super::read;
use crate::ladder::{Programs, Question, Round, StepKind, rounds, steps_of};
use crate::replay::{CallReplay, Culprit, CulpritId, Replay};
use crate::results::fact::Conditions;
use crate::results::module::{Module, Place, Places};
use crate::shared::name::without_layer;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{LlamaCallId, Model, NodeIdx, Text, Traced};

#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Question of its calls.
    pub question: Question,
    /// Start, ns since 1970.
    pub start_unix_ns: u64,
    /// The session's own clock at its start, ns. Together with the time above it identifies a
    /// recording.
    pub start_ns: u64,
    /// Calls of the question, in order, of the context that has most of them.
    pub calls: Vec<Call>,
    /// Such calls of other contexts and processes, which are ignored.
    pub other_calls: u64,
    /// Its work and its environment.
    pub environment: Environment,
    /// The scheduler level was recorded.
    pub scheduler: bool,
    /// The parts into which calls are split.
    pub leaves: Vec<Leaf>,
    /// The programs of their steps.
    pub programs: Programs,
}

/// A part of a call's time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leaf {
    /// Step of the ladder; the operators are one step, because their limits are those of a recording.
    pub step: StepKind,
    /// Part of the model that it computes; `None` for time outside of operators.
    pub module: Option<Module>,
    /// Operator as described by the engine; empty for time outside of operators.
    pub op: String,
    /// Name of the tensors that it computed, without the layer number.
    pub tensor: String,
}

/// One call. With guesses, all calls until tokens come out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// Position of its first token in its sequence; `None` when unknown.
    pub position: Option<u32>,
    /// Tokens in its batch.
    pub n_tokens: u32,
    /// What its time is divided by: 1, the tokens of a prompt, or with guesses the tokens that came out.
    pub units: u64,
    /// Its operators were completely captured.
    pub traced: bool,
    /// Of a decode call, from the end of the previous call to the end of its own, ns.
    pub time_ns: u64,
    /// That time by leaf, as positions in [`Run::leaves`], ns. They sum to the time. A negative
    /// part compensates operators that claim too much.
    pub parts: Vec<(u32, i64)>,
}

impl Run {
    /// The questions that are compared, in order.
    pub const QUESTIONS: [Question; 3] = [Question::Decode, Question::Prompt, Question::Encode];

    /// The decode calls of a recording.
    #[must_use]
    pub fn compute(model: &Model) -> Self {
        Recording::compute(model).run(Question::Decode)
    }

    /// One run for each question that a recording has calls of.
    #[must_use]
    pub fn all(model: &Model) -> Vec<Self> {
        let recording = Recording::compute(model);
        let runs = Self::QUESTIONS.into_iter().map(|question| recording.run(question));
        runs.filter(|run| !run.calls.is_empty()).collect()
    }
}

/// What the runs of a recording share.
struct Recording<'a> {
    model: &'a Model,
    phases: Phases,
    conditions: Conditions,
    operators: Operators,
    /// Of the encoder of images or sound, by the call that reads what it made.
    encoders: Operators,
    replay: Replay,
    /// By call: position in the replay.
    replayed: HashMap<LlamaCallId, usize>,
}

/// Calls that are one in a comparison, or the time of an encoder before a call.
struct Unit<'a> {
    rows: Vec<&'a CallReplay>,
    /// The call that names context and position.
    main: LlamaCallId,
    units: u64,
    /// Those of `rows`.
    operators: &'a Operators,
}

impl<'a> Recording<'a> {
    fn compute(model: &'a Model) -> Self {
        let phases = Phases::compute(model);
        let conditions = Conditions::compute(model, &phases);
        let mut operators = Operators::new(model.llama_calls.len());
        let places = Places::compute(model);
        let replay = Replay::with_operators(model, &phases, &conditions, &places, &mut |o| {
            let step = if o.other_backend { StepKind::OtherBackend } else { StepKind::AboveFloor };
            let Place { module, .. } = places.get(o.topology, o.index);
            operators.add(o.call, Operator { step, module, desc: o.node.desc, name: o.node.name }, o.ns);
        });
        let replayed = (0..).zip(&replay.calls).map(|(i, c)| (c.call, i)).collect();
        let encoders = Operators::of_encoders(model, &places, &replay.encodes);
        Self { model, phases, conditions, operators, encoders, replay, replayed }
    }

    fn run(&self, question: Question) -> Run {
        let Self { model, phases, conditions, replay, .. } = self;
        let all = self.units(question);
        let number: u64 = all.iter().map(|u| u.rows.len() as u64).sum();
        let (pid, units) = self.most_used(all);
        let rows: Vec<usize> = units.iter().flat_map(|u| &u.rows).map(|c| c.call.0 as usize).collect();
        let mut programs = Programs::default();
        let ids = programs.ids(replay.culprits.iter().map(Culprit::program));
        let mut leaves = Leaves::default();
        let calls = units.iter().map(|unit| self.call(unit, &ids, &mut leaves)).collect();
        Run {
            question,
            start_unix_ns: model.session.start_unix_ns,
            start_ns: model.session.start_ns,
            calls,
            other_calls: number - rows.len() as u64,
            environment: read::environment(model, phases, conditions, pid, &rows),
            scheduler: replay.scheduler,
            leaves: leaves.rows,
            programs,
        }
    }

    /// The units of a question, of all processes.
    fn units(&self, question: Question) -> Vec<Unit<'_>> {
        let Self { model, phases, replay, operators, .. } = self;
        let guessing = if question == Question::Decode { rounds(model, phases, replay) } else { Vec::new() };
        if !guessing.is_empty() {
            let row = |call: &LlamaCallId| self.replayed.get(call).map(|i| &replay.calls[*i]);
            let unit = |r: Round| {
                let rows = r.calls.iter().filter_map(row).collect();
                Unit { rows, main: r.target, units: r.tokens, operators }
            };
            return guessing.into_iter().map(unit).collect();
        }
        let covered = replay.calls.iter().filter(|c| question.covers(model, phases, c));
        let mut rows: Vec<&CallReplay> = covered.collect();
        let mut operators = operators;
        if question == Question::Encode && rows.is_empty() {
            let encodes = replay.encodes.iter().filter(|e| e.phase != Phase::WarmUp);
            (rows, operators) = (encodes.collect(), &self.encoders);
        }
        rows.sort_unstable_by_key(|c| c.call);
        let units = |call: LlamaCallId| match question {
            Question::Prompt => u64::from(model.llama_calls.n_tokens[call.0 as usize].max(1)),
            _ => 1,
        };
        rows.into_iter()
            .map(|row| Unit { rows: vec![row], main: row.call, units: units(row.call), operators })
            .collect()
    }

    /// The process, and the units of the context that has most of them; if equal, of the first.
    fn most_used<'u>(&self, all: Vec<Unit<'u>>) -> (u32, Vec<Unit<'u>>) {
        let calls = &self.model.llama_calls;
        let mut of_context: BTreeMap<(u32, u64), Vec<Unit<'u>>> = BTreeMap::new();
        for unit in all {
            let Some(pid) = unit.rows.first().map(|row| row.pid(self.model)) else { continue };
            of_context.entry((pid, calls.context[unit.main.0 as usize])).or_default().push(unit);
        }
        let first = |units: &[Unit<'_>]| units.first().map(|u| u.main);
        let most =
            of_context.into_iter().max_by_key(|(_, units)| (units.len(), std::cmp::Reverse(first(units))));
        most.map_or_else(Default::default, |((pid, _), units)| (pid, units))
    }

    fn call(&self, unit: &Unit<'_>, programs: &[CulpritId], leaves: &mut Leaves) -> Call {
        let Self { model, phases, .. } = self;
        let main = unit.main.0 as usize;
        let mut call = Call {
            position: phases.contexts[main].n_past,
            n_tokens: model.llama_calls.n_tokens[main],
            units: unit.units,
            traced: true,
            ..Call::default()
        };
        let mut parts: BTreeMap<u32, i64> = BTreeMap::new();
        for row in &unit.rows {
            call.time_ns = call.time_ns.saturating_add(row.time_ns);
            call.traced &= phases.tracing.llama_calls[row.call.0 as usize] == Traced::Whole;
            for (step, ns) in steps_of(row) {
                let leaf = leaves.id(Leaf::step(step.renumbered(programs)));
                *parts.entry(leaf).or_default() += ns.cast_signed();
            }
            for (operator, ns) in unit.operators.of(row.call) {
                let leaf = leaves.id(operator.leaf(model));
                *parts.entry(leaf).or_default() += ns.cast_signed();
                *parts.entry(leaves.id(Leaf::step(operator.step))).or_default() -= ns.cast_signed();
            }
        }
        call.parts = parts.into_iter().filter(|(_, ns)| *ns != 0).collect();
        call
    }
}

impl Leaf {
    /// The part of a step that is in no operator.
    const fn step(step: StepKind) -> Self {
        Self { step, module: None, op: String::new(), tensor: String::new() }
    }
}

/// An operator within a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Operator {
    step: StepKind,
    module: Module,
    desc: Text,
    name: Text,
}

impl Operator {
    fn leaf(self, model: &Model) -> Leaf {
        let (op, tensor) = (model.texts.get(self.desc).to_owned(), without_layer(model.texts.get(self.name)));
        Leaf { step: self.step, module: Some(self.module), op, tensor }
    }
}

/// Times of the operators by call, ns.
struct Operators(Vec<HashMap<Operator, u64>>);

impl Operators {
    fn new(calls: usize) -> Self {
        Self(vec![HashMap::new(); calls])
    }

    /// Those of graphs outside of calls, from the first start to the last end of their threads.
    fn of_encoders(model: &Model, places: &Places, encodes: &[CallReplay]) -> Self {
        let mut all = Self::new(model.llama_calls.len());
        if encodes.is_empty() {
            return all;
        }
        // Process and times of each, by start.
        let mut times: Vec<(u32, u64, u64, LlamaCallId)> = encodes
            .iter()
            .map(|e| {
                let entry = model.llama_calls.start_ns[e.call.0 as usize];
                (e.pid(model), entry.saturating_sub(e.time_ns), entry, e.call)
            })
            .collect();
        times.sort_unstable();
        let graphs = &model.graph_calls;
        for (graph, rows) in model.spans.by_call() {
            let (at, start) = (graph.0 as usize, graphs.start_ns[graph.0 as usize]);
            let (None, Some(topology)) = (graphs.decode[at], graphs.topology[at]) else { continue };
            let process = model.threads.get(graphs.thread[at]).pid;
            let after = times.partition_point(|(pid, from, ..)| (*pid, *from) <= (process, start));
            let Some((pid, _, to, call)) = after.checked_sub(1).map(|i| times[i]) else { continue };
            if pid != process || start >= to {
                continue;
            }
            let mut nodes: BTreeMap<NodeIdx, (u64, u64)> = BTreeMap::new();
            for row in rows {
                let (begun, spans) = (model.spans.start_ns[row], &model.spans);
                let time = nodes.entry(spans.node[row]).or_insert((begun, begun));
                *time = (time.0.min(begun), time.1.max(begun.saturating_add(spans.work_ns[row])));
            }
            for (index, (begun, ended)) in nodes {
                let node = model.topologies.get(topology).node(index);
                let Place { module, .. } = places.get(topology, index);
                let (step, desc, name) = (StepKind::Encoder, node.desc, node.name);
                all.add(call, Operator { step, module, desc, name }, ended - begun);
            }
        }
        all
    }

    fn add(&mut self, LlamaCallId(call): LlamaCallId, operator: Operator, ns: u64) {
        if let Some(sums) = self.0.get_mut(call as usize) {
            *sums.entry(operator).or_default() += ns;
        }
    }

    fn of(&self, LlamaCallId(call): LlamaCallId) -> impl Iterator<Item = (&Operator, &u64)> {
        self.0.get(call as usize).into_iter().flatten()
    }
}

#[derive(Default)]
struct Leaves {
    rows: Vec<Leaf>,
    ids: HashMap<Leaf, u32>,
}

impl Leaves {
    fn id(&mut self, leaf: Leaf) -> u32 {
        if let Some(id) = self.ids.get(&leaf) {
            return *id;
        }
        let id = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push(leaf.clone());
        self.ids.insert(leaf, id);
        id
    }
}
