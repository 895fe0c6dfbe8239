//! What leads a change: the steps that changed most in its direction.

use super::{Comparison, Level, Row};
use crate::ladder::StepKind;
use crate::results::module::Module;

/// Part of the change from which on one step is named for it.
const MOST: f64 = 0.5;

/// What leads the change of the mean time per unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Lead<'a> {
    /// How much they changed together, ns.
    pub change_ns: i64,
    /// They are most of the change.
    pub most: bool,
    /// Side whose calls take longer by that: 0 for A, 1 for B.
    pub side: usize,
    /// Rows of steps, the largest change first: several only if they are programs.
    pub steps: Vec<&'a Row>,
    /// For operators: the part of the model that changed most in that direction.
    pub module: Option<&'a Row>,
    /// For operators: the one that changed most in that direction. One that only one side has does not
    /// count: the other side may compute the same by several.
    pub operator: Option<&'a Row>,
}

impl Comparison {
    /// What leads the change; `None` where nothing changed in its direction.
    #[must_use]
    pub fn lead(&self) -> Option<Lead<'_>> {
        let [a, b] = self.unit_ns()?;
        let all = b - a;
        let along = |row: &&Row| row.change_ns().signum() == all.signum() && all != 0;
        let (programs, others): (Vec<&Row>, Vec<&Row>) =
            self.steps().filter(along).partition(|row| row.step.program().is_some());
        let groups = others.into_iter().map(|row| vec![row]).chain([programs]);
        let change = |rows: &[&Row]| rows.iter().map(|row| row.change_ns()).sum::<i64>();
        let mut steps =
            groups.max_by_key(|rows| change(rows).unsigned_abs()).filter(|rows| !rows.is_empty())?;
        steps.sort_by_key(|row| std::cmp::Reverse(row.change_ns().unsigned_abs()));
        let change_ns = change(&steps);
        let step = steps[0].step;
        let operators = matches!(step, StepKind::AboveFloor | StepKind::OtherBackend | StepKind::Encoder);
        let rows = self.rows.iter().filter(|row| operators && row.step == step && along(row));
        let most_changed = |level: Level, counts: fn(&Row) -> bool| {
            let of_level = rows.clone().filter(|row| row.level == level && counts(row));
            of_level.max_by_key(|row| row.change_ns().unsigned_abs())
        };
        let module = most_changed(Level::Module, |row| row.module.is_some_and(|m| m != Module::Other));
        let operator =
            most_changed(Level::Operator, |row| !row.op.is_empty() && row.side_ns.iter().all(|ns| *ns > 0));
        let most = change_ns.unsigned_abs() as f64 >= all.unsigned_abs() as f64 * MOST;
        Some(Lead { change_ns, most, side: usize::from(all > 0), steps, module, operator })
    }
}
