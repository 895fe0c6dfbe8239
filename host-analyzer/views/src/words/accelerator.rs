//! The sentences about profiles of accelerators, and the shapes of operators.

use super::{count, counted, duration, one_line};
use profinfer_analysis::accelerator::{Part, ProfileJoin, Shape, Why};
use profinfer_trace::model::ProfileFormat;

/// How well a profile matches the recording; mismatches come first.
#[must_use]
pub fn line(p: &ProfileJoin) -> String {
    let mut parts = Vec::new();
    if p.unjoined.kernels > 0 {
        let first = p.unjoined_kinds.first().map_or_else(String::new, |u| {
            format!(", first `{}`: {}", one_line(&u.text), why(u.why, p.format))
        });
        parts.push(format!("{} without a node{first}", kernels(&p.unjoined)));
    }
    let missing = [
        (p.damaged_lines, "lines truncated or mixed with others"),
        (p.open_blocks, "incomplete blocks"),
        (p.left_out_rows, "rows beyond the limit"),
    ];
    parts.extend(missing.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))));
    let (without, beyond) = p.unequal();
    if without > 0 {
        parts.push(format!("{} executions of nodes without a kernel", count(without)));
    }
    if beyond > 0 {
        parts.push(format!("{} more kernels than the recording has executions", count(beyond)));
    }
    if p.unread_fusions > 0 {
        parts.push(format!(
            "{} kernels fused operators that the profile does not name",
            count(p.unread_fusions)
        ));
    }
    if p.grouped.kernels > 0 {
        parts.push(format!("{} with one of several shapes, not distinguished", kernels(&p.grouped)));
    }
    let joined = format!(
        "{} of {} joined to one shape each; {:.1} % of {} on the device joined or grouped",
        count(p.joined.kernels),
        counted(p.kernels, "kernel"),
        p.share * 100.0,
        duration(p.device_ns)
    );
    parts.push(joined);
    format!("accelerator profile {} ({}): {}", one_line(&p.name), format_name(p.format), parts.join("; "))
}

fn kernels(part: &Part) -> String {
    format!("{} ({} on the device)", counted(part.kernels, "kernel"), duration(part.device_ns))
}

fn why(why: Why, format: ProfileFormat) -> String {
    match why {
        Why::NoBackend => format!("the recording has no graph of {}", format.backend()),
        Why::NotTold => {
            "it does not record what the kernel computed; add cl_profiling.csv of the same run".to_owned()
        }
        Why::NoNode => "no node of the backend has this name, operator or shape".to_owned(),
    }
}

const fn format_name(format: ProfileFormat) -> &'static str {
    match format {
        ProfileFormat::OpenClTable => "table of OpenCL kernels",
        ProfileFormat::OpenClTrace => "trace of OpenCL kernels",
        ProfileFormat::VulkanLog => "log of Vulkan's performance logger",
        ProfileFormat::HexagonLog => "Hexagon's profile log",
    }
}

/// Types and dimensions: `q8_0 m=64 n=1 k=64`, `f32 64×3`, or the number of shapes.
#[must_use]
pub fn shape(shapes: &[Shape]) -> String {
    let [shape] = shapes else { return format!("{} shapes", shapes.len()) };
    let dtype = |t: Option<&String>| t.map_or_else(String::new, |t| one_line(t));
    match shape.product {
        Some(p) => {
            let batch = if p.batch > 1 { format!(" batch={}", p.batch) } else { String::new() };
            format!("{} m={} n={} k={}{batch}", dtype(shape.types.first()), p.m, p.n, p.k)
        }
        None => format!("{} {}", dtype(Some(&shape.dtype)), dims(&shape.ne)),
    }
}

/// `64×3`: dimensions without trailing ones.
fn dims(ne: &[u64; 4]) -> String {
    let used = ne.iter().rposition(|n| *n != 1).map_or(1, |at| at + 1);
    ne[..used].iter().map(u64::to_string).collect::<Vec<_>>().join("×")
}
