//! Checks of a core type.

use std::collections::BTreeMap;

use toml::Spanned;

use super::candidates;
use crate::cores::{CYCLES, Core, Set, Unit};
use crate::error::BoardError;
use crate::parse::File;

/// The bits of MIDR_EL1 that identify a core type: implementer and part, without variant,
/// architecture and revision.
const MIDR_MASK: u32 = 0xff00_fff0;

pub(crate) fn check_core(file: &File<Core>) -> Result<(), BoardError> {
    let core = &file.value;
    file.check_name(&core.name)?;
    if let Some(midr) = core.midr.filter(|m| m & !MIDR_MASK != 0 || *m == 0) {
        let what =
            format!("midr {midr:#010x} is not MIDR_EL1 & {MIDR_MASK:#010x}: keep implementer and part only");
        return Err(file.wrong(0..0, what));
    }
    events(file)?;
    let counts = core.event(CYCLES).is_some() && core.midr.is_some();
    if core.counters > 0 && (!counts || core.sets.is_empty()) {
        let what = format!("a core with counters needs a midr, the event {CYCLES}, and at least one set");
        return Err(file.wrong(0..0, what));
    }
    let mut seen = BTreeMap::new();
    for set in &core.sets {
        if let Some(line) = seen.insert(set.name(), file.line(set.name.span())) {
            let what = format!("the set `{}` is defined twice, first in line {line}", set.name());
            return Err(file.wrong(set.name.span(), what));
        }
        check_set(file, set)?;
    }
    Ok(())
}

fn events(file: &File<Core>) -> Result<(), BoardError> {
    let (mut names, mut numbers) = (BTreeMap::new(), BTreeMap::new());
    for event in &file.value.events {
        let (at, event) = (event.span(), event.as_ref());
        let wrong = |what: String| Err(file.wrong(at.clone(), what));
        let line = file.line(at.clone());
        if let Some(first) = names.insert(&event.name, line) {
            return wrong(format!("the event `{}` is defined twice, first in line {first}", event.name));
        }
        if let Some(first) = numbers.insert(event.number, line) {
            return wrong(format!(
                "event number {:#x} is defined twice, first in line {first}",
                event.number
            ));
        }
        if (event.unit == Unit::Bytes) != event.bytes_per_count.is_some_and(|b| b > 0) {
            return wrong(format!("`{}`: unit `bytes` and bytes_per_count need each other", event.name));
        }
        if event.meaning.trim().is_empty() {
            return wrong(format!("`{}`: `meaning` must be one sentence", event.name));
        }
    }
    Ok(())
}

fn check_set(file: &File<Core>, set: &Set) -> Result<(), BoardError> {
    let core = &file.value;
    let events: &[Spanned<String>] = set.events.as_ref();
    if events.is_empty() || events.len() > core.counters {
        let what = format!(
            "the set `{}` has {} events, but `{}` counts 1 to {} at the same time, in addition to {CYCLES}",
            set.name(),
            events.len(),
            core.name,
            core.counters
        );
        return Err(file.wrong(set.events.span(), what));
    }
    for (i, event) in events.iter().enumerate() {
        let name = event.as_ref();
        let what = if name == CYCLES {
            format!("the set `{}`: {CYCLES} is counted with every set: leave it out", set.name())
        } else if events[..i].contains(event) {
            format!("the set `{}`: `{name}` is listed twice", set.name())
        } else if core.event(name).is_none() {
            let names = core.events().map(|e| e.name.as_str());
            let near = candidates(name, names);
            format!("the set `{}`: `{}` has no event `{name}`; {near}", set.name(), core.name)
        } else {
            continue;
        };
        return Err(file.wrong(event.span(), what));
    }
    Ok(())
}
