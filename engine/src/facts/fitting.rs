//! Finds the layout of an engine's structs.
//!
//! Stage: before attaching. From: [`Accessors`]. To: [`FoundLayout`]. The offset of the name
//! selects one of the known layouts. Every other accessor must agree. Only fields that no accessor
//! reveals are filled in. A fork with a longer struct is accepted when accessors reveal all fields
//! that matter. Promises: if an accessor disagrees, there is no layout.

use super::accessors::{ALL, Accessors, Seen};
use super::layout::{FoundLayout, Layout, NoLayout, Offset, Origin, Unfitting, families};
use crate::code::dataflow::Value;
use crate::symbols::calls::Calls;

/// The layout, and how it was obtained; or why there is none.
pub(crate) fn read(calls: &Calls<'_, '_>) -> Result<FoundLayout, NoLayout> {
    let accessors = Accessors::new(calls);
    if calls.function("ggml_get_name").is_none() {
        return without_name(&accessors);
    }
    let Some(Value::Argument(0, name)) = accessors.returned("ggml_get_name") else {
        return Err(NoLayout::NameNotUnderstood);
    };
    let size = accessors.tensor_size();
    if let Some(family) = families().into_iter().find(|f| i64::from(f.layout.tensor_name) == name) {
        let mut layout = family.layout;
        let whole = layout.tensor_size;
        // A fork may have inserted fields after the name.
        layout.tensor_size = size.filter(|size| *size > whole).unwrap_or(whole);
        let seen = accessors.seen(&layout, family.releases)?;
        let at_end = layout.tensor_size - whole;
        return Ok(FoundLayout { at_end, ..found(layout, family.releases, &seen) });
    }
    grown(&accessors, name, size).map_err(|why| NoLayout::Unknown { name, why })
}

/// The layout of a program that was linked as one (LTO), where most accessors are gone: the only
/// layout that agrees with the remaining ones, which must distinguish the layouts.
fn without_name(accessors: &Accessors<'_, '_>) -> Result<FoundLayout, NoLayout> {
    let mut agreeing: Vec<FoundLayout> = Vec::new();
    for family in families() {
        let Ok(seen) = accessors.seen(&family.layout, family.releases) else { continue };
        if ["data", "view_src", "buffer"].iter().all(|field| seen.iter().any(|(name, _)| name == field)) {
            agreeing.push(found(family.layout, family.releases, &seen));
        }
    }
    match agreeing.pop() {
        Some(only) if agreeing.is_empty() => Ok(only),
        Some(_) | None => Err(NoLayout::NameGone),
    }
}

/// The layout of a fork that has inserted fields into a known struct: a known layout, moved from
/// some field on. Every accessor agrees with it, and accessors reveal all fields that matter.
fn grown(accessors: &Accessors<'_, '_>, name: i64, size: Option<u32>) -> Result<FoundLayout, Unfitting> {
    let mut found: Vec<FoundLayout> = Vec::new();
    for family in families() {
        let more = name - i64::from(family.layout.tensor_name);
        let Ok(more) = u32::try_from(more) else { continue };
        if more % 8 != 0 || more > MOST_ADDED {
            continue;
        }
        for moved in 1..=MOVING.len() {
            let mut layout = family.layout;
            MOVING[..moved].iter().for_each(|field| *field(&mut layout) += more);
            layout.tensor_size = size.unwrap_or(family.layout.tensor_size + more);
            if layout.tensor_size < layout.tensor_name + NAME_BYTES {
                continue;
            }
            let Ok(seen) = accessors.seen(&layout, family.releases) else { continue };
            let complete = NEEDED.iter().all(|field| seen.iter().any(|(name, _)| name == field));
            if complete && !found.iter().any(|f| f.layout == layout) {
                found.push(FoundLayout { put_in: more, ..self::found(layout, family.releases, &seen) });
            }
        }
    }
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only),
        Some(_) => Err(Unfitting::Several),
        None => Err(Unfitting::Hidden),
    }
}

/// Fields in the order in which they can move when others are inserted before them: the last one
/// first.
const MOVING: [fn(&mut Layout) -> &mut u32; 4] =
    [|l| &mut l.tensor_name, |l| &mut l.tensor_data, |l| &mut l.tensor_view_src, |l| &mut l.tensor_src];
/// Fields that accessors must reveal before a layout of no release is accepted.
const NEEDED: [&str; 9] = ["name", "data", "view_src", "src", "type", "ne", "nb", "op", "op_params"];
/// Most bytes that a fork may have added.
const MOST_ADDED: u32 = 256;
/// `GGML_MAX_NAME`.
const NAME_BYTES: u32 = 64;

/// Makes a layout with the source of each offset.
fn found(layout: Layout, releases: &'static str, seen: &[Seen]) -> FoundLayout {
    let by = |field: &str| seen.iter().find(|(name, _)| *name == field).map(|(_, function)| *function);
    let offsets = ALL.map(|(field, offset)| Offset {
        field,
        offset: offset(&layout),
        origin: by(field).map_or(Origin::Releases, Origin::Accessor),
    });
    let seen = seen.iter().map(|(name, _)| *name).collect();
    FoundLayout { layout, offsets: offsets.into(), seen, releases, put_in: 0, at_end: 0 }
}
