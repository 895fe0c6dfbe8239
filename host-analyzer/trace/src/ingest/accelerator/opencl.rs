//! `cl_profiling.csv`: one row per kernel, in the order in which they were queued.
//!
//! The first line names the columns. Releases differ in their columns. The name of the tensor, the
//! name of the kernel, the time on the device and the size of the result are in all of them. A
//! tensor's name may contain a comma.

use super::kept::Kept;
use super::lines::lines;
use super::number::{numbers, time_ns};
use crate::model::{KernelDims, KernelKind, KernelPart, ProfileFormat};

/// Whether the line names the columns.
pub(super) fn is_header(line: &str) -> bool {
    Columns::compute(line).is_some()
}

/// Positions of the used columns, counted from the end, and the unit of the time.
#[derive(Debug, Clone, Copy)]
struct Columns {
    count: usize,
    kernel: usize,
    time: usize,
    unit_ns: f64,
    output: usize,
}

impl Columns {
    fn compute(header: &str) -> Option<Self> {
        let names: Vec<_> = header.split(',').map(str::trim).collect();
        if names.first() != Some(&"op name") {
            return None;
        }
        let find = |beginning: &str| names.iter().position(|n| n.starts_with(beginning));
        // The first releases have only one time.
        let time = find("exec duration").or_else(|| find("duration"))?;
        let unit_ns = match names[time].rsplit_once('(')?.1 {
            "ms)" => 1e6,
            "us)" => 1e3,
            "ns)" => 1.0,
            _ => return None,
        };
        Some(Self {
            count: names.len(),
            kernel: find("kernel name")?,
            time,
            unit_ns,
            output: find("output size")?,
        })
    }
}

pub(super) fn read(bytes: &[u8]) -> Kept {
    let mut kept = Kept::new(ProfileFormat::OpenClTable);
    let mut lines = lines(bytes);
    let Some(columns) = lines.next().and_then(|l| Columns::compute(&l)) else { return kept };
    kept.lines.read = 1;
    for line in lines {
        kept.lines.read += 1;
        if row(&mut kept, columns, &line).is_none() {
            kept.lines.damaged += 1;
        }
    }
    kept
}

/// Adds a row; `None` if the line is not one.
fn row(kept: &mut Kept, columns: Columns, line: &str) -> Option<()> {
    let fields: Vec<_> = line.split(',').collect();
    // Further commas belong to the first column.
    let more = fields.len().checked_sub(columns.count)?;
    let field = |column: usize| fields[column + more].trim();
    let device_ns = time_ns(field(columns.time), columns.unit_ns)?;
    let output = numbers::<4>(field(columns.output), 'x')?;
    let kernel = field(columns.kernel);
    let tensor = fields[..=more].join(",");
    if kernel.is_empty() || tensor.is_empty() {
        return None;
    }
    let text = format!("{tensor} {kernel} {}", field(columns.output));
    kept.add(&text.clone(), (1, device_ns), || {
        let part = KernelPart {
            op: String::new(),
            behind: Vec::new(),
            fusion: String::new(),
            tensor,
            types: Vec::new(),
            dtype: String::new(),
            dims: KernelDims::Output(output),
        };
        Some(KernelKind { text, kernel: kernel.to_owned(), parts: vec![part] })
    });
    Some(())
}
