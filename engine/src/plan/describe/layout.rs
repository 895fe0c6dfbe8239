//! How the layout of an engine's structs was found, in words.

use std::fmt::Write as _;

use crate::facts::accessors::ALLOCATES;
use crate::facts::layout::{FoundLayout, NoLayout, Origin, Unfitting};
use crate::plan::types::EnginePlan;

/// How the layout was found, or why there is none.
#[must_use]
pub fn layout(found: &Result<FoundLayout, NoLayout>) -> String {
    match found {
        Ok(found) => note(found),
        Err(reason) => no_layout(*reason),
    }
}

/// Why there is no layout.
fn no_layout(reason: NoLayout) -> String {
    match reason {
        NoLayout::NoAccessor => {
            "no file defines ggml_get_name: GGML's base library is not loaded, or stripped".to_owned()
        }
        NoLayout::NameNotUnderstood => {
            "ggml_get_name is not understood, so the offsets of ggml_tensor are unknown".to_owned()
        }
        NoLayout::NameGone => {
            format!("ggml_get_name is missing, and {ALLOCATES} does not reveal the layout of ggml_tensor")
        }
        NoLayout::Disagrees { accessor, field, offset, releases } => {
            format!("{accessor} does not read {field} at {offset}, where {releases} have it")
        }
        NoLayout::Unknown { name, why } => {
            let why = match why {
                Unfitting::Several => "its accessors fit more than one layout",
                Unfitting::Hidden => "its accessors do not reveal the other fields",
            };
            format!("ggml_tensor::name is at offset {name}, as in no known release, and {why}")
        }
    }
}

/// The consequence for operators when there is no layout.
#[must_use]
pub fn unreadable(reason: NoLayout) -> String {
    format!("the structs cannot be read: {}", no_layout(reason))
}

/// The releases whose layout is used where accessors do not reveal it.
fn assumed(found: &FoundLayout) -> String {
    match found.put_in {
        0 => format!("as in {}", found.releases),
        more => format!("as in {} with {more} bytes more", found.releases),
    }
}

/// How a layout was found.
fn note(found: &FoundLayout) -> String {
    let rest = found.offsets.iter().filter(|f| f.origin == Origin::Releases).map(|f| f.field);
    let rest: Vec<_> = rest.chain(["params.ith", "params.type"]).collect();
    let mut note =
        format!("seen in accessors: {}; {}: {}", found.seen.join(", "), assumed(found), rest.join(", "));
    if found.at_end > 0 {
        let _ = write!(note, "; {} bytes more at the end", found.at_end);
    }
    note
}

pub(super) fn write(out: &mut String, plan: &EnginePlan) -> std::fmt::Result {
    let found = match &plan.layout {
        Ok(found) => found,
        Err(reason) => return writeln!(out, "\nlayout    none: {}", no_layout(*reason)),
    };
    writeln!(out, "\nlayout    {}", note(found))?;
    for field in &found.offsets {
        let how = match field.origin {
            Origin::Accessor(function) => format!("seen in {function}"),
            Origin::Releases => assumed(found),
        };
        writeln!(out, "{:>9} {:4}  {how}", field.field, field.offset)?;
    }
    match found.layout.graph_uid {
        Some(uid) => writeln!(out, "{:>9} {uid:4}  seen where the scheduler sets it", "uid"),
        None => writeln!(out, "{:>9}    -  the engine does not number its graphs", "uid"),
    }
}
