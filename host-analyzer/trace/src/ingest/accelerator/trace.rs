//! `cl_trace.json`: begin and end events of the same kernels, on the host and on the device, in the
//! order of the table.
//!
//! It names kernels but no tensors. The backend writes one event per line, with a comma after the
//! last one, and does not close the list. Each line is therefore parsed alone.

use serde::Deserialize;

use super::kept::Kept;
use super::lines::lines;
use crate::model::{DeviceTimeline, KernelKind, ProfileFormat};

/// A begin or end event, times in µs.
#[derive(Debug, Deserialize)]
struct Event<'a> {
    name: &'a str,
    ph: &'a str,
    ts: u64,
    tid: &'a str,
}

/// Kernels that began and did not end yet.
#[derive(Debug, Default)]
struct Open {
    host: Option<u64>,
    device: Option<u64>,
}

pub(super) fn read(bytes: &[u8]) -> Kept {
    let mut kept = Kept::new(ProfileFormat::OpenClTrace);
    let mut open = Open::default();
    let mut span: Option<(u64, u64)> = None;
    let mut queued_us = 0_u64;
    for line in lines(bytes) {
        kept.lines.read += 1;
        let line = line.trim().trim_end_matches(',');
        if matches!(line, "" | "[" | "]") {
            kept.lines.other += 1;
            continue;
        }
        let Ok(event) = serde_json::from_str::<Event<'_>>(line) else {
            kept.lines.damaged += 1;
            continue;
        };
        let ended = |begin: &mut Option<u64>| begin.take().filter(|b| *b <= event.ts);
        match (event.tid, event.ph) {
            ("Host", "B") => open.host = Some(event.ts),
            ("Device", "B") => open.device = Some(event.ts),
            ("Host", "E") => match ended(&mut open.host) {
                Some(begin) => queued_us = queued_us.saturating_add(event.ts - begin),
                None => kept.lines.damaged += 1,
            },
            ("Device", "E") => match ended(&mut open.device) {
                Some(begin) => {
                    let (first, last) = span.unwrap_or((begin, event.ts));
                    span = Some((first.min(begin), last.max(event.ts)));
                    let device_ns = (event.ts - begin).saturating_mul(1000);
                    kept.add(event.name, (1, device_ns), || kind(event.name));
                }
                None => kept.lines.damaged += 1,
            },
            _ => kept.lines.other += 1,
        }
    }
    kept.timeline = span.map(|(first, last)| DeviceTimeline {
        span_ns: (last - first).saturating_mul(1000),
        queued_ns: queued_us.saturating_mul(1000),
    });
    kept
}

fn kind(name: &str) -> Option<KernelKind> {
    let name = name.to_owned();
    (!name.is_empty()).then(|| KernelKind { text: name.clone(), kernel: name, parts: Vec::new() })
}
