//! Split of the change per unit, by the steps of the ladder. The rows of each level sum to the change
//! to the nanosecond.

use std::collections::{BTreeMap, BTreeSet};

use super::run::{Leaf, Run};
use super::select::Selection;
use super::verdict::RUNS_FOR_RANKS;
use crate::ladder::{Programs, SMALL, StepKind};
use crate::results::module::Module;
use crate::stats::rank;

/// Largest share of the significant rows that may be false.
pub const FALSE_SHARE: f64 = 0.05;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub level: Level,
    /// Step of the ladder. `AboveFloor` is all of the operators' time.
    pub step: StepKind,
    /// Part of the model; set in rows of modules, for time within operators.
    pub module: Option<Module>,
    /// Operator; empty in rows of steps and modules, and for time outside of operators.
    pub op: String,
    /// Tensors; empty in rows of other levels.
    pub tensor: String,
    /// Time per unit of each side, ns.
    pub side_ns: [i64; 2],
    /// Upper bound of the exact probability of this difference or a larger one if nothing differs;
    /// `None` with fewer than four runs on a side.
    pub p: Option<f64>,
    /// Significant when all rows of its level are tested together.
    pub stands: Option<bool>,
}

/// What a row sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A step of the ladder.
    Step,
    /// Operators of one part of the model within a step. A part takes one time whether a version of the
    /// engine computes it by one operator or by several.
    Module,
    /// Operators of one type within a step.
    Operator,
    /// Tensors of one name within those.
    Tensor,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Step, Self::Module, Self::Operator, Self::Tensor];

    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Module => "module",
            Self::Operator => "operator",
            Self::Tensor => "tensor",
        }
    }

    /// The leaf's row at this level.
    fn key(self, leaf: &Leaf) -> Leaf {
        let text = |from: Self, text: &str| if self >= from { text.to_owned() } else { String::new() };
        Leaf {
            step: leaf.step,
            module: leaf.module.filter(|_| self == Self::Module),
            op: text(Self::Operator, &leaf.op),
            tensor: text(Self::Tensor, &leaf.tensor),
        }
    }
}

impl Row {
    /// How much longer it is on side B, ns.
    #[must_use]
    pub const fn change_ns(&self) -> i64 {
        self.side_ns[1].saturating_sub(self.side_ns[0])
    }
}

/// Time of each leaf per unit of each run, ns.
struct Means {
    leaves: BTreeSet<Leaf>,
    runs: [Vec<BTreeMap<Leaf, f64>>; 2],
}

/// The rows, level by level, largest change first.
#[must_use]
pub(super) fn rows(sides: [&[Run]; 2], selection: &Selection, programs: &mut Programs) -> Vec<Row> {
    let mut runs =
        sides.map(|runs| runs.iter().map(|run| means(run, selection, programs)).collect::<Vec<_>>());
    merge_small(&mut runs);
    let leaves = runs.iter().flatten().flat_map(|run| run.keys().cloned()).collect();
    let means = Means { leaves, runs };
    let whole = [0, 1].map(|side| means.whole(side));
    let mut all: Vec<Row> = Level::ALL.into_iter().flat_map(|level| means.rows(level, &whole)).collect();
    all.sort_by_key(|row| (row.level, std::cmp::Reverse(row.change_ns().unsigned_abs())));
    all
}

/// Time of each leaf per unit of one run, ns, with the programs of all runs.
fn means(run: &Run, selection: &Selection, programs: &mut Programs) -> BTreeMap<Leaf, f64> {
    let ids = programs.ids(run.programs.names());
    let (mut sums, mut units) = (vec![0_i64; run.leaves.len()], 0_u64);
    for call in selection.calls(run) {
        units += call.units;
        for (leaf, ns) in &call.parts {
            sums[*leaf as usize] = sums[*leaf as usize].saturating_add(*ns);
        }
    }
    let of = |(leaf, sum): (&Leaf, i64)| {
        (Leaf { step: leaf.step.renumbered(&ids), ..leaf.clone() }, sum as f64 / units.max(1) as f64)
    };
    run.leaves.iter().zip(sums).filter(|(_, sum)| *sum != 0).map(of).collect()
}

/// Makes one row of the programs that cost little on both sides: every row that is tested makes it
/// harder for the others to stand.
fn merge_small(sides: &mut [Vec<BTreeMap<Leaf, f64>>; 2]) {
    let mut large: BTreeSet<StepKind> = BTreeSet::new();
    for runs in &*sides {
        let all: f64 = runs.iter().flat_map(BTreeMap::values).sum();
        let mut of_step: BTreeMap<StepKind, f64> = BTreeMap::new();
        for (leaf, ns) in runs.iter().flatten() {
            *of_step.entry(leaf.step).or_default() += ns;
        }
        large.extend(of_step.into_iter().filter(|(_, ns)| *ns >= all * SMALL).map(|(step, _)| step));
    }
    for run in sides.iter_mut().flatten() {
        let small = |leaf: &Leaf| leaf.step.program().is_some() && !large.contains(&leaf.step);
        let (few, mut rest): (BTreeMap<Leaf, f64>, BTreeMap<Leaf, f64>) =
            std::mem::take(run).into_iter().partition(|(leaf, _)| small(leaf));
        for (leaf, ns) in few {
            *rest.entry(Leaf { step: StepKind::SmallCauses, ..leaf }).or_default() += ns;
        }
        *run = rest;
    }
}

impl Means {
    /// Time of each leaf per unit of one side, in integer ns that sum to the rounded time per
    /// unit. Each is the difference of two rounded cumulative sums, so rounding errors do not
    /// accumulate.
    fn whole(&self, side: usize) -> BTreeMap<&Leaf, i64> {
        let runs = &self.runs[side];
        let (mut sum, mut before) = (0.0, 0_i64);
        let mut whole = BTreeMap::new();
        for leaf in &self.leaves {
            let of_runs: f64 = runs.iter().filter_map(|run| run.get(leaf)).sum();
            sum += of_runs / runs.len().max(1) as f64;
            let rounded = sum.round() as i64;
            whole.insert(leaf, rounded - before);
            before = rounded;
        }
        whole
    }

    fn rows(&self, level: Level, whole: &[BTreeMap<&Leaf, i64>; 2]) -> Vec<Row> {
        let mut of_key: BTreeMap<Leaf, Vec<&Leaf>> = BTreeMap::new();
        for leaf in &self.leaves {
            of_key.entry(level.key(leaf)).or_default().push(leaf);
        }
        let [a, b] = self.runs.each_ref().map(Vec::len);
        let ranks = (a.min(b) >= RUNS_FOR_RANKS).then(|| rank::distribution(a, b));
        let mut rows: Vec<Row> = of_key
            .into_iter()
            .map(|(key, leaves)| {
                let of_run =
                    |run: &BTreeMap<Leaf, f64>| leaves.iter().filter_map(|l| run.get(*l)).sum::<f64>();
                let [a, b] = [0, 1].map(|side| self.runs[side].iter().map(of_run).collect::<Vec<_>>());
                let side_ns = [0, 1].map(|side: usize| leaves.iter().map(|l| whole[side][*l]).sum());
                let p = ranks.as_ref().map(|u| rank::p_of(u, &a, &b));
                let Leaf { step, module, op, tensor } = key;
                Row { level, step, module, op, tensor, side_ns, p, stands: None }
            })
            .collect();
        let p: Option<Vec<f64>> = rows.iter().map(|row| row.p).collect();
        for (row, stands) in rows.iter_mut().zip(p.iter().flat_map(|p| rank::stand(p, FALSE_SHARE))) {
            row.stands = Some(stands);
        }
        rows
    }
}
