//! A JSON document while it is packed.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

/// A value without parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Positive(u64),
    Negative(i64),
    Float(f64),
    /// As it stands in the text.
    Text(&'a str),
    /// It had to be unescaped.
    Unescaped(Box<str>),
}

impl Scalar<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unescaped(text) => Some(text),
            _ => None,
        }
    }
}

/// All lists of scalars, one behind the other: there is one in each row of a session's tokens.
pub(super) type Lists<'a> = Vec<Scalar<'a>>;

pub(super) type Name<'a> = Cow<'a, str>;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Node<'a> {
    Scalar(Scalar<'a>),
    /// A list of scalars, or an empty one: its place in [`Lists`].
    Scalars(Range<usize>),
    List(Vec<Node<'a>>),
    /// In order of names.
    Object(Vec<(Name<'a>, Node<'a>)>),
    /// A list of like objects.
    Table(Box<Table<'a>>),
}

/// Objects with the same fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Table<'a> {
    pub(super) rows: usize,
    /// In order of names.
    pub(super) columns: Vec<(Name<'a>, Vec<Node<'a>>)>,
}

impl<'a> Node<'a> {
    /// The same value.
    pub(super) fn equals(&self, other: &Self, lists: &Lists<'a>) -> bool {
        let all =
            |a: &[Self], b: &[Self]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b, lists));
        match (self, other) {
            (Self::Scalar(a), Self::Scalar(b)) => a == b,
            (Self::Scalars(a), Self::Scalars(b)) => lists[a.clone()] == lists[b.clone()],
            (Self::List(a), Self::List(b)) => all(a, b),
            (Self::Object(a), Self::Object(b)) => {
                self.same_fields(other) && a.iter().zip(b).all(|((_, a), (_, b))| a.equals(b, lists))
            }
            (Self::Table(a), Self::Table(b)) => {
                a.rows == b.rows
                    && a.same_fields(b)
                    && a.columns.iter().zip(&b.columns).all(|((_, a), (_, b))| all(a, b))
            }
            _ => false,
        }
    }

    /// Both are objects, with the same fields.
    pub(super) fn same_fields(&self, other: &Self) -> bool {
        let (Self::Object(a), Self::Object(b)) = (self, other) else { return false };
        same_names(a, b)
    }
}

fn same_names<T>(a: &[(Name<'_>, T)], b: &[(Name<'_>, T)]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((a, _), (b, _))| a == b)
}

impl<'a> Table<'a> {
    /// Puts columns in order of names.
    pub(super) fn in_order(mut self) -> Self {
        self.columns.sort_by(|(a, _), (b, _)| a.cmp(b));
        self
    }

    /// Its rows have the same fields.
    pub(super) fn same_fields(&self, other: &Self) -> bool {
        same_names(&self.columns, &other.columns)
    }

    /// Adds a row with the same fields, in the same order: the first row's.
    pub(super) fn push(&mut self, object: Vec<(Name<'a>, Node<'a>)>) {
        if self.rows == 0 {
            self.columns = object.into_iter().map(|(name, value)| (name, vec![value])).collect();
        } else {
            for ((_, column), (_, value)) in self.columns.iter_mut().zip(object) {
                column.push(value);
            }
        }
        self.rows += 1;
    }

    /// Adds rows with the same fields, in the same order.
    pub(super) fn append(&mut self, other: Self) {
        if self.rows == 0 {
            *self = other;
            return;
        }
        self.rows += other.rows;
        for ((_, column), (_, values)) in self.columns.iter_mut().zip(other.columns) {
            column.extend(values);
        }
    }

    /// Its rows.
    pub(super) fn into_objects(self) -> Vec<Node<'a>> {
        let Self { rows, columns } = self.in_order();
        let mut columns: Vec<_> =
            columns.into_iter().map(|(name, values)| (name, values.into_iter())).collect();
        let mut row =
            || columns.iter_mut().filter_map(|(name, values)| Some((name.clone(), values.next()?))).collect();
        (0..rows).map(|_| Node::Object(row())).collect()
    }
}
