//! From text to a document: lists of objects go into columns at once.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::node::{Lists, Name, Node, Scalar, Table};

/// The document of a text; lists of scalars are in `lists`.
///
/// # Errors
/// The text is not JSON.
pub(super) fn read<'a>(text: &'a [u8], lists: &mut Lists<'a>) -> serde_json::Result<Node<'a>> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let root = Value { lists }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(root)
}

/// Reads a value.
struct Value<'l, 'a> {
    lists: &'l mut Lists<'a>,
}

/// Reads a value into a list.
struct Element<'l, 'a> {
    lists: &'l mut Lists<'a>,
    list: &'l mut List<'a>,
}

/// A list of which some is read.
enum List<'a> {
    /// They are in [`Lists`] from here on to its end.
    Scalars(usize),
    /// Columns are in the order of the first row's text.
    Rows(Table<'a>),
    Mixed(Vec<Node<'a>>),
}

type Object<'a> = Vec<(Name<'a>, Node<'a>)>;

impl<'a> List<'a> {
    fn push(&mut self, value: Node<'a>, lists: &mut Lists<'a>) {
        match (&mut *self, value) {
            (Self::Scalars(_), Node::Scalar(scalar)) => lists.push(scalar),
            (Self::Mixed(nodes), value) => nodes.push(value),
            (_, value) => {
                self.mix(lists);
                self.push(value, lists);
            }
        }
    }

    fn is_empty(&self, lists: &Lists<'a>) -> bool {
        matches!(self, Self::Scalars(first) if *first == lists.len())
    }

    /// The same as single nodes.
    fn mix(&mut self, lists: &mut Lists<'a>) {
        let nodes = match std::mem::replace(self, Self::Mixed(Vec::new())) {
            Self::Scalars(first) => lists.drain(first..).map(Node::Scalar).collect(),
            Self::Rows(table) => table.into_objects(),
            Self::Mixed(nodes) => nodes,
        };
        *self = Self::Mixed(nodes);
    }

    fn finish(self, lists: &Lists<'a>) -> Node<'a> {
        match self {
            Self::Scalars(first) => Node::Scalars(first..lists.len()),
            Self::Rows(table) => Node::Table(Box::new(table.in_order())),
            Self::Mixed(nodes) => Node::List(nodes),
        }
    }
}

fn fields<'a, A: MapAccess<'a>>(
    map: &mut A,
    lists: &mut Lists<'a>,
    mut object: Object<'a>,
) -> Result<Object<'a>, A::Error> {
    while let Some(name) = map.next_key_seed(NameSeed)? {
        object.push((name, map.next_value_seed(Value { lists })?));
    }
    Ok(object)
}

fn sorted<'a>(mut object: Object<'a>) -> Object<'a> {
    object.sort_by(|(a, _), (b, _)| a.cmp(b));
    object
}

/// A row of which the first fields may be in the columns already: these are as long as the table with it.
fn row<'a, A: MapAccess<'a>>(
    table: &mut Table<'a>,
    map: &mut A,
    lists: &mut Lists<'a>,
) -> Result<Option<Object<'a>>, A::Error> {
    let mut n = 0;
    while let Some(name) = map.next_key_seed(NameSeed)? {
        match table.columns.get_mut(n) {
            Some((known, column)) if *known == name => {
                column.push(map.next_value_seed(Value { lists })?);
                n += 1;
            }
            _ => {
                let value = map.next_value_seed(Value { lists })?;
                let mut object = taken(table, n);
                object.push((name, value));
                return fields(map, lists, object).map(Some);
            }
        }
    }
    if n < table.columns.len() {
        return Ok(Some(taken(table, n)));
    }
    table.rows += 1;
    Ok(None)
}

/// Takes the last values of the first `n` columns out again.
fn taken<'a>(table: &mut Table<'a>, n: usize) -> Object<'a> {
    table.columns[..n].iter_mut().filter_map(|(name, column)| Some((name.clone(), column.pop()?))).collect()
}

impl<'a> DeserializeSeed<'a> for Value<'_, 'a> {
    type Value = Node<'a>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Value<'_, 'a> {
    type Value = Node<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Bool(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Positive(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Negative(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Float(value)))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'a str) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Text(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node<'a>, E> {
        Ok(Node::Scalar(Scalar::Unescaped(value.into())))
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Node<'a>, A::Error> {
        let mut list = List::Scalars(self.lists.len());
        while seq.next_element_seed(Element { lists: self.lists, list: &mut list })?.is_some() {}
        Ok(list.finish(self.lists))
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Node<'a>, A::Error> {
        fields(&mut map, self.lists, Vec::new()).map(|object| Node::Object(sorted(object)))
    }
}

impl<'a> DeserializeSeed<'a> for Element<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

/// All but objects are read as any value is.
macro_rules! pushed {
    ($($visit:ident($type:ty))*) => {
        $(fn $visit<E: Error>(self, value: $type) -> Result<(), E> {
            let value = Value { lists: self.lists }.$visit(value)?;
            self.list.push(value, self.lists);
            Ok(())
        })*
    };
}

impl<'a> Visitor<'a> for Element<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    pushed! {
        visit_bool(bool) visit_u64(u64) visit_i64(i64) visit_f64(f64) visit_borrowed_str(&'a str) visit_str(&str)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.list.push(Node::Scalar(Scalar::Null), self.lists);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, seq: A) -> Result<(), A::Error> {
        // Before its own scalars come behind those of this list.
        self.list.mix(self.lists);
        let value = Value { lists: self.lists }.visit_seq(seq)?;
        self.list.push(value, self.lists);
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { lists, list } = self;
        if list.is_empty(lists) {
            let mut table = Table::default();
            table.push(fields(&mut map, lists, Vec::new())?);
            *list = List::Rows(table);
            return Ok(());
        }
        let List::Rows(table) = list else {
            list.mix(lists);
            let value = Value { lists }.visit_map(map)?;
            list.push(value, lists);
            return Ok(());
        };
        let Some(object) = row(table, &mut map, lists)? else { return Ok(()) };
        // The same fields in another order, or others.
        let place = |name: &Name<'_>| table.columns.iter().position(|(known, _)| known == name);
        let places: Option<Vec<usize>> = object.iter().map(|(name, _)| place(name)).collect();
        match places {
            Some(places) if places.len() == table.columns.len() => {
                for (place, (_, value)) in places.into_iter().zip(object) {
                    table.columns[place].1.push(value);
                }
                table.rows += 1;
            }
            _ => list.push(Node::Object(sorted(object)), lists),
        }
        Ok(())
    }
}

/// Reads the name of a field.
struct NameSeed;

impl<'a> DeserializeSeed<'a> for NameSeed {
    type Value = Name<'a>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Name<'a>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for NameSeed {
    type Value = Name<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'a str) -> Result<Name<'a>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name<'a>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
