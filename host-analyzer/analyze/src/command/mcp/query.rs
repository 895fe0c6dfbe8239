//! Questions to a table: filter, group, order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use profinfer_views::tables::{self, Cell};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loaded::Loaded;
use crate::{Diagnostic, Result};

/// Most rows of an answer, most groups while they are formed, and rows without a limit.
const MOST_ROWS: usize = 1_000;
const MOST_GROUPS: usize = 100_000;
const ROWS: usize = 50;

/// A question to a table.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(super) struct Query {
    /// Columns of the answer; all if it is empty. Not with `group_by`.
    #[serde(default)]
    columns: Vec<String>,
    /// Only rows that fulfil all of these.
    #[serde(default)]
    filters: Vec<Filter>,
    /// One row for each combination of values of these columns, with `aggregates`.
    #[serde(default)]
    group_by: Vec<String>,
    /// What is computed of the rows, or of each group: `count` needs no column.
    #[serde(default)]
    aggregates: Vec<Aggregate>,
    /// Column of the answer to sort by; an aggregate is called `sum_work_ns`, for example.
    order_by: Option<String>,
    /// Largest first.
    #[serde(default)]
    descending: bool,
    /// Most rows (default 50, at most 1000).
    limit: Option<usize>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Filter {
    column: String,
    is: Comparison,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Comparison {
    Equal,
    NotEqual,
    Below,
    AtMost,
    Above,
    AtLeast,
    /// Of a text: it contains the value.
    Contains,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Aggregate {
    function: Function,
    column: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Function {
    Count,
    Sum,
    Mean,
    Min,
    Max,
}

/// A value of a question or an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(String),
}

/// The answer.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// Rows or groups that fulfil the filters, of which `rows` are at most the limit.
    of: u64,
}

impl Function {
    const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

impl Value {
    fn new(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Int(n) => i64::try_from(n).map_or(Self::Number(n as f64), Self::Int),
            Cell::Bool(yes) => Self::Bool(yes),
            Cell::Text(text) => Self::Text(text.to_owned()),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(*n as f64),
            Self::Number(x) => Some(*x),
            _ => None,
        }
    }

    /// An order of all values: unknown ones first, then by kind.
    fn order(&self, other: &Self) -> Ordering {
        let kind = |value: &Self| match value {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) | Self::Number(_) => 2,
            Self::Text(_) => 3,
        };
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => kind(self).cmp(&kind(other)),
            },
        }
    }
}

/// A filter whose column is a place in a row.
struct Test<'a> {
    place: usize,
    filter: &'a Filter,
}

impl Test<'_> {
    /// An unknown value fulfils only the comparison with `null`.
    fn holds(&self, cells: &[Cell<'_>]) -> bool {
        let (cell, value) = (Value::new(cells[self.place]), &self.filter.value);
        if (cell == Value::Null || *value == Value::Null) && self.filter.is != Comparison::Equal {
            return self.filter.is == Comparison::NotEqual && cell != *value;
        }
        let order = cell.order(value);
        match self.filter.is {
            Comparison::Equal => order == Ordering::Equal,
            Comparison::NotEqual => order != Ordering::Equal,
            Comparison::Below => order == Ordering::Less,
            Comparison::AtMost => order != Ordering::Greater,
            Comparison::Above => order == Ordering::Greater,
            Comparison::AtLeast => order != Ordering::Less,
            Comparison::Contains => match (&cell, value) {
                (Value::Text(text), Value::Text(part)) => text.contains(part.as_str()),
                _ => false,
            },
        }
    }
}

/// What one aggregate knows of the rows so far.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    n: u64,
    sum: i128,
    least: Option<i128>,
    most: Option<i128>,
}

impl Sum {
    /// Unknown values are left out, as in SQL; a count without a column counts rows.
    fn add(&mut self, cell: Option<Cell<'_>>) {
        match cell {
            None | Some(Cell::Bool(_) | Cell::Text(_)) => self.n += 1,
            Some(Cell::Null) => {}
            Some(Cell::Int(n)) => {
                self.n += 1;
                self.sum = self.sum.saturating_add(n);
                self.least = Some(self.least.map_or(n, |least| least.min(n)));
                self.most = Some(self.most.map_or(n, |most| most.max(n)));
            }
        }
    }

    fn value(&self, function: Function) -> Value {
        let int = |n: Option<i128>| n.map_or(Value::Null, |n| Value::new(Cell::Int(n)));
        match function {
            Function::Count => int(Some(self.n.into())),
            Function::Sum => int(Some(self.sum)),
            Function::Mean if self.n == 0 => Value::Null,
            Function::Mean => Value::Number(self.sum as f64 / self.n as f64),
            Function::Min => int(self.least),
            Function::Max => int(self.most),
        }
    }
}

/// Answers a question to a table.
pub(super) fn answer(loaded: &Loaded, table: &str, query: &Query) -> Result<Answer> {
    let Loaded { model, analysis } = loaded;
    let failed =
        |answer: String, help: &str| Diagnostic::new(format!("reading the table {table:?}"), answer, help);
    let known = tables::columns(table, model, analysis)
        .ok_or_else(|| failed("there is no such table".to_owned(), "use ops, tokens, experts or threads"))?;
    let place = |name: &String| {
        known.iter().position(|column| column == name).ok_or_else(|| {
            failed(format!("it has no column {name:?}"), &format!("its columns are {}", known.join(", ")))
        })
    };
    let places = |names: &[String]| names.iter().map(place).collect::<Result<Vec<_>>>();
    let tests = query
        .filters
        .iter()
        .map(|filter| Ok(Test { place: place(&filter.column)?, filter }))
        .collect::<Result<Vec<_>>>()?;
    let aggregates = query
        .aggregates
        .iter()
        .map(|a| Ok((a.function, a.column.as_ref().map(place).transpose()?)))
        .collect::<Result<Vec<_>>>()?;
    let summed = !query.group_by.is_empty() || !aggregates.is_empty();
    let (columns, shown) = if summed {
        let names = query.aggregates.iter().map(|a| match &a.column {
            Some(column) => format!("{}_{column}", a.function.name()),
            None => a.function.name().to_owned(),
        });
        (query.group_by.iter().cloned().chain(names).collect(), places(&query.group_by)?)
    } else if query.columns.is_empty() {
        (known.clone(), (0..known.len()).collect())
    } else {
        (query.columns.clone(), places(&query.columns)?)
    };
    let order = query
        .order_by
        .as_ref()
        .map(|name| {
            columns.iter().position(|column| column == name).ok_or_else(|| {
                failed(
                    format!("the answer has no column {name:?}"),
                    &format!("sort by one of {}", columns.join(", ")),
                )
            })
        })
        .transpose()?;
    let limit = query.limit.unwrap_or(ROWS).min(MOST_ROWS);
    let mut best = Best { order, descending: query.descending, limit, rows: Vec::new(), of: 0 };
    let mut groups: BTreeMap<Vec<Key>, Vec<Sum>> = BTreeMap::new();
    let mut too_many = false;
    let read = tables::rows(table, model, analysis, &mut |cells| {
        if !tests.iter().all(|test| test.holds(cells)) {
            return;
        }
        let values = shown.iter().map(|place| Value::new(cells[*place]));
        if !summed {
            best.add(values.collect());
            return;
        }
        let key: Vec<Key> = values.map(Key).collect();
        if groups.len() >= MOST_GROUPS && !groups.contains_key(&key) {
            too_many = true;
            return;
        }
        let sums = groups.entry(key).or_insert_with(|| vec![Sum::default(); aggregates.len()]);
        for (sum, (_, place)) in sums.iter_mut().zip(&aggregates) {
            sum.add(place.map(|place| cells[place]));
        }
    });
    read.unwrap_or(Ok(())).map_err(|e| failed(e.to_string(), "report this bug"))?;
    if too_many {
        return Err(failed(
            format!("more than {MOST_GROUPS} groups"),
            "group by fewer columns, or filter first",
        ));
    }
    for (key, sums) in groups {
        let values = sums.iter().zip(&aggregates).map(|(sum, (function, _))| sum.value(*function));
        best.add(key.into_iter().map(|Key(value)| value).chain(values).collect());
    }
    best.sort();
    let Best { rows, of, .. } = best;
    Ok(Answer { columns, rows, of })
}

/// A value with the order of all values.
#[derive(Debug, Clone)]
struct Key(Value);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}

/// The first rows of an order, in bounded memory.
struct Best {
    order: Option<usize>,
    descending: bool,
    limit: usize,
    rows: Vec<Vec<Value>>,
    of: u64,
}

impl Best {
    fn add(&mut self, row: Vec<Value>) {
        self.of += 1;
        if self.order.is_none() && self.rows.len() >= self.limit {
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= 2 * self.limit.max(1) && self.order.is_some() {
            self.sort();
        }
    }

    fn sort(&mut self) {
        if let Some(place) = self.order {
            self.rows.sort_by(|a, b| {
                let order = a[place].order(&b[place]);
                if self.descending { order.reverse() } else { order }
            });
        }
        self.rows.truncate(self.limit);
    }
}
