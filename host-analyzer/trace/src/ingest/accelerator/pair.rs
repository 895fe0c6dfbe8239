//! A table and the trace of the same kernels.

use crate::model::{AcceleratorProfile, ProfileFormat};

/// Removes each trace that has the kernels of a table in the same order, and adds to the table what
/// only the trace has. No time then counts twice. A trace without its table stays.
pub fn pair(profiles: &mut Vec<AcceleratorProfile>) {
    let (traces, mut rest): (Vec<_>, Vec<_>) =
        std::mem::take(profiles).into_iter().partition(|p| p.format == ProfileFormat::OpenClTrace);
    for trace in traces {
        let table = rest.iter_mut().find(|t| {
            t.format == ProfileFormat::OpenClTable && t.timeline.is_none() && kernels(t).eq(kernels(&trace))
        });
        match table {
            Some(table) => table.timeline = trace.timeline,
            None => rest.push(trace),
        }
    }
    *profiles = rest;
}

fn kernels(profile: &AcceleratorProfile) -> impl Iterator<Item = &str> {
    profile.rows.iter().map(|row| profile.kinds.get(row.kind as usize).map_or("", |k| k.kernel.as_str()))
}
