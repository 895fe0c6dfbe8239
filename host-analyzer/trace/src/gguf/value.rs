//! Values of settings. The reader keeps integers and short texts and skips everything else.

use super::Error;
use super::bytes::Bytes;

/// A value.
pub(super) enum Value {
    /// Non-negative integers: one, or a list.
    Numbers(Vec<u64>),
    /// A short text.
    Text(String),
    /// Anything else, and values that are too long to be useful: vocabularies.
    Other,
}

/// Longest list of numbers that is kept: more than any model has layers.
const MOST_LIST: u64 = 4096;

/// Most bytes of a text that is kept.
const MOST_TEXT: u64 = 256;

/// Most levels of nested lists.
const MOST_DEPTH: u32 = 4;

const BOOL: u32 = 7;
const TEXT: u32 = 8;
const LIST: u32 = 9;

/// Size of a value of a fixed-size type, bytes.
const fn width(dtype: u32) -> Option<u64> {
    match dtype {
        0 | 1 | BOOL => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// One value, with its type before it.
pub(super) fn value(bytes: &mut Bytes<'_>) -> Result<Value, Error> {
    match bytes.u32()? {
        TEXT => text(bytes),
        LIST => list(bytes),
        dtype => Ok(number(bytes, dtype)?.map_or(Value::Other, |n| Value::Numbers(vec![n]))),
    }
}

fn text(bytes: &mut Bytes<'_>) -> Result<Value, Error> {
    let n = bytes.u64()?;
    if n > MOST_TEXT {
        bytes.skip(n)?;
        return Ok(Value::Other);
    }
    // A value may have any bytes; only names must be UTF-8.
    match bytes.kept_text("setting", n) {
        Ok(text) => Ok(Value::Text(text)),
        Err(Error::NotText(_)) => Ok(Value::Other),
        Err(e) => Err(e),
    }
}

fn list(bytes: &mut Bytes<'_>) -> Result<Value, Error> {
    let (dtype, n) = (bytes.u32()?, bytes.u64()?);
    if width(dtype).is_none() || n > MOST_LIST {
        skip_items(bytes, dtype, n, 1)?;
        return Ok(Value::Other);
    }
    let mut numbers = Vec::new();
    for _ in 0..n {
        numbers.push(number(bytes, dtype)?);
        bytes.keep(16)?;
    }
    let all: Option<Vec<u64>> = numbers.into_iter().collect();
    Ok(all.filter(|list| !list.is_empty()).map_or(Value::Other, Value::Numbers))
}

/// A number; `None` if it is negative or has a fraction.
fn number(bytes: &mut Bytes<'_>, dtype: u32) -> Result<Option<u64>, Error> {
    Ok(match dtype {
        0 | BOOL => Some(bytes.array::<1>()?[0].into()),
        1 => u64::try_from(i8::from_le_bytes(bytes.array()?)).ok(),
        2 => Some(u16::from_le_bytes(bytes.array()?).into()),
        3 => u64::try_from(i16::from_le_bytes(bytes.array()?)).ok(),
        4 => Some(bytes.u32()?.into()),
        5 => u64::try_from(i32::from_le_bytes(bytes.array()?)).ok(),
        10 => Some(bytes.u64()?),
        11 => u64::try_from(i64::from_le_bytes(bytes.array()?)).ok(),
        other => {
            bytes.skip(width(other).ok_or(Error::ValueType(other))?)?;
            None
        }
    })
}

/// Skips the items of a list. Each item consumes bytes of the file or ends the reading, so that a
/// claimed number costs nothing.
fn skip_items(bytes: &mut Bytes<'_>, dtype: u32, n: u64, depth: u32) -> Result<(), Error> {
    if let Some(width) = width(dtype) {
        return bytes.skip(n.checked_mul(width).ok_or(Error::Overflow { what: "length of a list" })?);
    }
    if !matches!(dtype, TEXT | LIST) {
        return Err(Error::ValueType(dtype));
    }
    if depth > MOST_DEPTH {
        return Err(Error::Nested);
    }
    for _ in 0..n {
        if dtype == TEXT {
            let length = bytes.u64()?;
            bytes.skip(length)?;
        } else {
            let (inner, count) = (bytes.u32()?, bytes.u64()?);
            skip_items(bytes, inner, count, depth + 1)?;
        }
    }
    Ok(())
}
