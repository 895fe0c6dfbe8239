//! From a document to packed text. Each part is given back when it is written.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::LEAST;
use super::node::{Lists, Name, Node, Table};

/// Where it is written to.
pub(super) struct Writer<'l, 'a, W> {
    pub(super) lists: &'l Lists<'a>,
    pub(super) out: W,
}

type Nodes<'a> = Vec<Node<'a>>;

impl<'a, W: Write> Writer<'_, 'a, W> {
    /// A value, with the lists in it packed.
    pub(super) fn packed(&mut self, node: Node<'a>) -> io::Result<()> {
        match node {
            Node::Table(table) if table.rows >= LEAST => self.table(*table),
            Node::Table(table) => self.list(table.into_objects(), Self::packed),
            Node::List(nodes) => self.list(nodes, Self::packed),
            Node::Object(fields) => self.object(fields, Self::packed),
            other => self.plain(other),
        }
    }

    /// A value as it was read.
    fn plain(&mut self, node: Node<'a>) -> io::Result<()> {
        match node {
            Node::Scalar(scalar) => Ok(serde_json::to_writer(&mut self.out, &scalar)?),
            Node::Scalars(place) => Ok(serde_json::to_writer(&mut self.out, &self.lists[place])?),
            Node::Table(table) => self.list(table.into_objects(), Self::plain),
            Node::List(nodes) => self.list(nodes, Self::plain),
            Node::Object(fields) => self.object(fields, Self::plain),
        }
    }

    fn list(&mut self, nodes: Nodes<'a>, each: fn(&mut Self, Node<'a>) -> io::Result<()>) -> io::Result<()> {
        self.out.write_all(b"[")?;
        for (i, node) in nodes.into_iter().enumerate() {
            self.comma(i)?;
            each(self, node)?;
        }
        self.out.write_all(b"]")
    }

    fn object<T>(
        &mut self,
        fields: Vec<(Name<'a>, T)>,
        each: fn(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.out.write_all(b"{")?;
        for (i, (name, value)) in fields.into_iter().enumerate() {
            self.comma(i)?;
            serde_json::to_writer(&mut self.out, &name)?;
            self.out.write_all(b":")?;
            each(self, value)?;
        }
        self.out.write_all(b"}")
    }

    fn comma(&mut self, place: usize) -> io::Result<()> {
        if place == 0 { Ok(()) } else { self.out.write_all(b",") }
    }

    fn table(&mut self, table: Table<'a>) -> io::Result<()> {
        let Table { rows, columns } = table;
        self.out.write_all(br#"{"c":"#)?;
        self.object(columns, Self::column)?;
        write!(self.out, r#","~":{rows}}}"#)
    }

    /// The shortest form of a column.
    fn column(&mut self, values: Nodes<'a>) -> io::Result<()> {
        if let [first, rest @ ..] = &values[..]
            && rest.iter().all(|value| value.equals(first, self.lists))
        {
            self.out.write_all(br#"{"=":"#)?;
            self.plain(first.clone())?;
            return self.out.write_all(b"}");
        }
        let values = match as_table(values) {
            Ok((lengths, table)) => {
                self.out.write_all(b"{")?;
                if let Some(lengths) = lengths {
                    self.out.write_all(br#""l":"#)?;
                    serde_json::to_writer(&mut self.out, &lengths)?;
                    self.out.write_all(b",")?;
                }
                self.out.write_all(br#""t":"#)?;
                self.table(table)?;
                return self.out.write_all(b"}");
            }
            Err(values) => values,
        };
        match texts(&values) {
            Some((known, places)) => {
                self.out.write_all(br#"{"d":"#)?;
                serde_json::to_writer(&mut self.out, &known)?;
                self.out.write_all(br#","i":"#)?;
                serde_json::to_writer(&mut self.out, &places)?;
                self.out.write_all(b"}")
            }
            None => self.list(values, Self::plain),
        }
    }
}

/// Values that are like objects, or lists of such, as one table, with the lengths of the lists; otherwise the values again.
fn as_table<'a>(values: Nodes<'a>) -> Result<(Option<Vec<usize>>, Table<'a>), Nodes<'a>> {
    if let Some(first @ Node::Object(_)) = values.first() {
        if !values.iter().all(|value| value.same_fields(first)) {
            return Err(values);
        }
        let mut table = Table::default();
        for value in values {
            if let Node::Object(fields) = value {
                table.push(fields);
            }
        }
        return Ok((None, table));
    }
    let first =
        values.iter().find_map(|value| if let Node::Table(table) = value { Some(table) } else { None });
    let Some(first) = first else { return Err(values) };
    let fits = |value: &Node<'a>| match value {
        Node::Table(table) => table.same_fields(first),
        Node::Scalars(place) => place.is_empty(),
        _ => false,
    };
    if !values.iter().all(fits) {
        return Err(values);
    }
    let (mut lengths, mut all) = (Vec::with_capacity(values.len()), Table::default());
    for value in values {
        if let Node::Table(table) = value {
            lengths.push(table.rows);
            all.append(*table);
        } else {
            lengths.push(0);
        }
    }
    Ok((Some(lengths), all))
}

/// Each text once with its places, if that is worth it.
fn texts<'n>(values: &'n [Node<'_>]) -> Option<(Vec<&'n str>, Vec<usize>)> {
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    let mut known = Vec::new();
    let mut places = Vec::with_capacity(values.len());
    for value in values {
        let Node::Scalar(scalar) = value else { return None };
        let text = scalar.text()?;
        places.push(*ids.entry(text).or_insert_with(|| {
            known.push(text);
            known.len() - 1
        }));
    }
    (known.len() * 2 <= values.len()).then_some((known, places))
}
