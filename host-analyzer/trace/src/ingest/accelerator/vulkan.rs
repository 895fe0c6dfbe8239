//! The Vulkan backend's log. After each graph, or after several, it prints a block with one row per
//! name.
//!
//! A row is `NAME: N x T us`. Newer releases add ` = TOTAL us`, and a rate in brackets where the
//! backend knows the operations. Times have six digits. Other lines of the engine appear before,
//! between and after the blocks.

use super::kept::Kept;
use super::lines::lines;
use super::number::time_ns;
use super::vulkan_name::parts;
use crate::model::{KernelKind, ProfileFormat};

/// First line of a block.
pub(super) const HEADER: &str = "Vulkan Timings:";
const TOTAL: &str = "Total time: ";
/// Share of a total by which its rows may miss it: they have six digits each.
const ROUNDING: f64 = 1e-4;
/// Additional tolerance per row, ns: newer releases print hundredths of 1 µs.
const ROUNDING_NS: u64 = 10;

pub(super) fn read(bytes: &[u8]) -> Kept {
    let mut kept = Kept::new(ProfileFormat::VulkanLog);
    let mut block: Option<(u64, u64)> = None;
    for line in lines(bytes) {
        kept.lines.read += 1;
        let line = line.trim();
        if line.ends_with(HEADER) {
            kept.lines.open_blocks += u64::from(block.replace((0, 0)).is_some());
        } else if let Some(total) = line.strip_prefix(TOTAL).and_then(total) {
            let whole = block.take().is_some_and(|(rows, sum)| fits(rows, sum, total));
            kept.lines.open_blocks += u64::from(!whole);
        } else if let Some((name, kernels, device_ns)) = row(line) {
            if let Some((rows, sum)) = &mut block {
                *rows += 1;
                *sum = sum.saturating_add(device_ns);
            }
            let kind = || {
                let parts = parts(name)?;
                Some(KernelKind { text: name.to_owned(), kernel: String::new(), parts })
            };
            kept.add(name, (kernels, device_ns), kind);
        } else if line.contains(" x ") && line.contains(" us") {
            kept.lines.damaged += 1;
        } else {
            kept.lines.other += 1;
        }
    }
    kept.lines.open_blocks += u64::from(block.is_some());
    kept
}

fn total(text: &str) -> Option<u64> {
    time_ns(text.strip_suffix(" us.")?, 1e3)
}

fn fits(rows: u64, sum: u64, total: u64) -> bool {
    let rounding = (total as f64 * ROUNDING) as u64;
    sum.abs_diff(total) <= rounding.saturating_add(rows.saturating_mul(ROUNDING_NS))
}

/// Name, kernels and their total time, ns; `None` for another line.
fn row(line: &str) -> Option<(&str, u64, u64)> {
    let (name, figures) = line.rsplit_once(": ")?;
    let (kernels, times) = figures.split_once(" x ")?;
    let kernels: u64 = kernels.parse().ok()?;
    let (times, rate) = times.split_once(" (").map_or((times, None), |(t, r)| (t, Some(r)));
    if rate.is_some_and(|r| !r.ends_with("FLOPS/s)")) {
        return None;
    }
    let of_one = |text: &str| time_ns(text.strip_suffix(" us")?, 1e3);
    let device_ns = match times.split_once(" = ") {
        Some((one, all)) => of_one(one).and(of_one(all))?,
        None => of_one(times)?.checked_mul(kernels)?,
    };
    (!name.is_empty() && kernels > 0).then_some((name, kernels, device_ns))
}
