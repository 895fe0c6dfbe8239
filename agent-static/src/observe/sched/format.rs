//! The text by which the kernel describes a tracepoint's record: its `format` file.
//!
//! Foreign text. Every kernel has its own layout: real-time kernels and some of distributors put a field more before all
//! others, and fields come and go with releases. So nothing is taken for effective, and what is not as expected is refused.

use std::fmt;

/// A record is never longer (PERF_MAX_TRACE_SIZE of include/linux/trace_events.h).
const LONGEST: u32 = 8192;
/// The kernel puts a pointer over the first bytes of what a program sees.
const HIDDEN: u32 = 8;

/// One `format` file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Number of the tracepoint, by which it is opened.
    pub id: u64,
    /// How the record is printed, as the kernel writes it.
    pub print: String,
    fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: String,
    /// Its bytes are elsewhere in the record: the field tells where.
    dynamic: bool,
    offset: u32,
    size: u32,
}

/// Why a `format` file is of no use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotUsable {
    /// It has no such line.
    NoLine(&'static str),
    /// A line of a field is not as in other kernels.
    Line(String),
    /// The tracepoint has no such field.
    NoField(&'static str),
    /// The field is not of a size that can be read.
    Size(&'static str, u32),
    /// The field is an array elsewhere in the record, or is not although it should be.
    Kind(&'static str),
    /// The field lies where programs cannot read it.
    Place(&'static str, u32),
    /// How a state is printed is not as in other kernels.
    States(&'static str),
}

impl fmt::Display for NotUsable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLine(what) => write!(f, "it has no `{what}`"),
            Self::Line(line) => write!(f, "this line of it is not understood: {line}"),
            Self::NoField(field) => write!(f, "it has no field {field}"),
            Self::Size(field, size) => write!(f, "its field {field} has an unexpected size, {size} bytes"),
            Self::Kind(field) => write!(f, "its field {field} is of another kind than in other kernels"),
            Self::Place(field, offset) => {
                write!(f, "its field {field} lies at byte {offset}, where programs cannot read it")
            }
            Self::States(what) => write!(f, "it does not tell {what}"),
        }
    }
}

impl Format {
    /// Reads the text of a `format` file.
    ///
    /// # Errors
    /// When it has no number, or a field that is not understood.
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
    /// # Errors
    /// When it is absent, of another size, or out of reach.
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
    /// # Errors
    /// As [`Self::sized`].
    pub fn offset(&self, name: &'static str, size: u32) -> Result<u32, NotUsable> {
        Ok(self.sized(name, &[size])?.0)
    }

    /// Offset of the four bytes that tell where a text is.
    ///
    /// # Errors
    /// As [`Self::sized`].
    pub fn text(&self, name: &'static str) -> Result<u32, NotUsable> {
        match self.find(name)? {
            Field { dynamic: false, .. } => Err(NotUsable::Kind(name)),
            Field { size, .. } if *size != 4 => Err(NotUsable::Size(name, *size)),
            Field { offset, .. } => Ok(*offset),
        }
    }
}

/// `char prev_comm[16]; offset:8; size:16; signed:0;`, with tabs behind the semicolons.
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

/// The pairs of `{ 0x1, "S" }, { 0x2, "D" }` in how a record is printed.
pub fn symbols(print: &str) -> Vec<(u64, String)> {
    let pair = |part: &str| {
        let (number, rest) = part.split_once(',')?;
        let (_, rest) = rest.split_once('"')?;
        let (name, rest) = rest.split_once('"')?;
        rest.trim_start().starts_with('}').then_some((self::number(number)?, name.to_owned()))
    };
    print.split('{').skip(1).filter_map(pair).collect()
}

/// A number of C, in hex or not.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
