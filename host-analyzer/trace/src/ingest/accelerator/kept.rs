//! The kept part of a profile while it is read.

use std::collections::HashMap;

use crate::model::{AcceleratorProfile, DeviceTimeline, KernelKind, KernelRow, ProfileFormat, ProfileLines};

/// Limit of kinds of kernels.
pub const MOST_KINDS: usize = 1 << 16;
/// Limit of rows.
pub const MOST_ROWS: usize = 1 << 22;

/// Kinds and rows so far.
#[derive(Debug)]
pub(super) struct Kept {
    format: ProfileFormat,
    kinds: Vec<KernelKind>,
    ids: HashMap<String, u32>,
    rows: Vec<KernelRow>,
    pub(super) lines: ProfileLines,
    pub(super) timeline: Option<DeviceTimeline>,
}

impl Kept {
    pub(super) fn new(format: ProfileFormat) -> Self {
        Self {
            format,
            kinds: Vec::new(),
            ids: HashMap::new(),
            rows: Vec::new(),
            lines: ProfileLines::default(),
            timeline: None,
        }
    }

    /// Adds a row of the kind with this text. `parse` reads the text when it is new. If it cannot,
    /// the line counts as damaged.
    pub(super) fn add(
        &mut self,
        text: &str,
        (kernels, device_ns): (u64, u64),
        parse: impl FnOnce() -> Option<KernelKind>,
    ) {
        let known = self.ids.get(text).copied();
        let kind = match known {
            Some(kind) => kind,
            None if self.kinds.len() == MOST_KINDS => return self.lines.left_out += 1,
            None => {
                let Some(kind) = parse() else { return self.lines.damaged += 1 };
                let id = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
                self.kinds.push(kind);
                self.ids.insert(text.to_owned(), id);
                id
            }
        };
        // Without names the order of rows means nothing, and one row per kind is enough.
        if known.is_some() && self.format == ProfileFormat::VulkanLog {
            let row = &mut self.rows[kind as usize];
            row.kernels = row.kernels.saturating_add(kernels);
            row.device_ns = row.device_ns.saturating_add(device_ns);
        } else if self.rows.len() == MOST_ROWS {
            self.lines.left_out += 1;
        } else {
            self.rows.push(KernelRow { kind, kernels, device_ns });
        }
    }

    pub(super) fn profile(self, name: &str) -> AcceleratorProfile {
        AcceleratorProfile {
            name: name.to_owned(),
            format: self.format,
            kinds: self.kinds,
            rows: self.rows,
            lines: self.lines,
            timeline: self.timeline,
        }
    }
}
