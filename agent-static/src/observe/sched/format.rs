//! Parses the kernel's description of a tracepoint's record: its `format` file.
//!
//! The text is not trusted. Every kernel has its own layout: real-time kernels and some
//! distributions insert a field before all others, and fields come and go between releases. So
//! nothing is assumed, and unexpected text is refused.

use std::fmt;

/// Largest record (PERF_MAX_TRACE_SIZE of include/linux/trace_events.h).
const LONGEST: u32 = 8192;
/// The kernel overwrites these first bytes with a pointer before programs see the record.
const HIDDEN: u32 = 8;

/// A parsed `format` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Id of the tracepoint, by which it is opened.
    pub id: u64,
    /// The kernel's print format of the record.
    pub print: String,
    fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: String,
    /// The field contains the position of its bytes in the record.
    dynamic: bool,
    offset: u32,
    size: u32,
}

/// Why a `format` file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotUsable {
    /// A required line is missing.
    NoLine(&'static str),
    /// A field's line has an unknown form.
    Line(String),
    /// A required field is missing.
    NoField(&'static str),
    /// The field has an unexpected size.
    Size(&'static str, u32),
    /// The field is dynamic unexpectedly, or is not although it should be.
    Kind(&'static str),
    /// The field is where programs cannot read it.
    Place(&'static str, u32),
    /// The print format of states is unknown.
    States(&'static str),
}

impl fmt::Display for NotUsable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLine(what) => write!(f, "it has no `{what}`"),
            Self::Line(line) => write!(f, "it has an unknown line: {line}"),
            Self::NoField(field) => write!(f, "it has no field {field}"),
            Self::Size(field, size) => write!(f, "its field {field} has an unexpected size, {size} bytes"),
            Self::Kind(field) => write!(f, "its field {field} has an unexpected kind"),
            Self::Place(field, offset) => {
                write!(f, "its field {field} is at byte {offset}, where programs cannot read it")
            }
            Self::States(what) => write!(f, "it does not show {what}"),
        }
    }
}

impl Format {
    /// Parses the text of a `format` file.
    ///
    /// # Errors If it has no id, or a field is not understood.
    pub fn parse(text: &str) -> Result<Self, NotUsable> {
        let line = |begin: &str| text.lines().find_map(|l| l.strip_prefix(begin)).map(str::trim);
        let id = line("ID:").and_then(|n| n.parse().ok()).ok_or(NotUsable::NoLine("ID:"))?;
        let fields = text.lines().filter_map(|l| l.trim_start().strip_prefix("field:"));
        let fields = fields
            .map(|l| field(l).ok_or_else(|| NotUsable::Line(l.chars().take(80).collect())))
            .collect::<Result<_, _>>()?;
        Ok(Self { id, print: line("print fmt:").unwrap_or_default().to_owned(), fields })
    }

    fn find(&self, name: &'static str) -> Result<&Field, NotUsable> {
        let field = self.fields.iter().find(|f| f.name == name).ok_or(NotUsable::NoField(name))?;
        let end = field.offset.checked_add(field.size);
        if field.offset < HIDDEN || end.is_none_or(|end| end > LONGEST) {
            return Err(NotUsable::Place(name, field.offset));
        }
        Ok(field)
    }

    /// Offset and size of a field that has one of these sizes.
    ///
    /// # Errors If it is missing, has another size, or is out of reach.
    pub fn sized(&self, name: &'static str, sizes: &[u32]) -> Result<(u32, u32), NotUsable> {
        let field = self.find(name)?;
        match field {
            Field { dynamic: true, .. } => Err(NotUsable::Kind(name)),
            Field { size, .. } if !sizes.contains(size) => Err(NotUsable::Size(name, *size)),
            Field { offset, size, .. } => Ok((*offset, *size)),
        }
    }

    /// Offset of a field of `size` bytes.
    ///
    /// # Errors Same as [`Self::sized`].
    pub fn offset(&self, name: &'static str, size: u32) -> Result<u32, NotUsable> {
        Ok(self.sized(name, &[size])?.0)
    }

    /// Offset of the four bytes that contain the position of a text.
    ///
    /// # Errors Same as [`Self::sized`].
    pub fn text(&self, name: &'static str) -> Result<u32, NotUsable> {
        match self.find(name)? {
            Field { dynamic: false, .. } => Err(NotUsable::Kind(name)),
            Field { size, .. } if *size != 4 => Err(NotUsable::Size(name, *size)),
            Field { offset, .. } => Ok(*offset),
        }
    }
}

/// `char prev_comm[16]; offset:8; size:16; signed:0;`, with tabs after the semicolons.
fn field(line: &str) -> Option<Field> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?;
    let name = declared.rsplit([' ', '*']).next()?.split('[').next()?;
    let (mut offset, mut size) = (None, None);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", n)) => offset = n.parse().ok(),
            Some(("size", n)) => size = n.parse().ok(),
            _ => {}
        }
    }
    let dynamic = declared.starts_with("__data_loc") || declared.starts_with("__rel_loc");
    Some(Field { name: name.to_owned(), dynamic, offset: offset?, size: size? })
}

/// The pairs of `{ 0x1, "S" }, { 0x2, "D" }` in a print format.
pub fn symbols(print: &str) -> Vec<(u64, String)> {
    let pair = |part: &str| {
        let (number, rest) = part.split_once(',')?;
        let (_, rest) = rest.split_once('"')?;
        let (name, rest) = rest.split_once('"')?;
        rest.trim_start().starts_with('}').then_some((self::number(number)?, name.to_owned()))
    };
    print.split('{').skip(1).filter_map(pair).collect()
}

/// A C number, decimal or hexadecimal.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
