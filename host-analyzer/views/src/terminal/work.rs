//! The share of the memory bandwidth that decode used, and the time of the modules.

use std::io;

use super::style::{Sheet, percent};
use crate::words::{PHASES, counted, date, no_ceiling, read_from, size};
use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::module::{Module, Sum};
use profinfer_analysis::phase::Phase;
use profinfer_analysis::roof::{Roof, Roofs, Utilisation};
use profinfer_analysis::work::Accuracy;
use profinfer_trace::model::CeilingSource;

/// Modules with a smaller share of the time are not shown; summary.json has all.
const LEAST: f64 = 0.005;
/// Maximum number of modules, so that they fit a line.
const MOST: usize = 5;

pub(super) fn write(roofs: &Roofs, modules: &[Sum], out: &mut Sheet<'_>) -> io::Result<()> {
    let lines =
        [roofs.decode.as_ref().map(|d| utilisation(d, roofs.phase(Phase::Decode))), by_module(modules)];
    for line in lines.into_iter().flatten() {
        out.sentence(&line)?;
    }
    Ok(())
}

/// `decode reads 120 MiB per token, 10.2 GB/s in traced calls: 64.0 % of what this memory delivers to
/// 4 threads from 120 MiB (MBU)`.
fn utilisation(d: &Utilisation, roof: &Roof) -> String {
    let bytes = size(d.bytes_per_token as u64);
    let bytes = match d.accuracy {
        Accuracy::Counted => bytes,
        Accuracy::AtMost => format!("at most {bytes}"),
        Accuracy::Estimated => format!("about {bytes}"),
        Accuracy::AtLeast => format!("at least {bytes}"),
    };
    let threads = counted(u64::from(roof.threads), "thread");
    let from = roof.read.as_ref().map(read_from).unwrap_or_default();
    let part = match (d.mbu, roof.read) {
        (Some(mbu), Some(read)) => {
            let kept = match read.source {
                CeilingSource::Kept { unix_ns } => format!(", measured on {}", date(unix_ns)),
                _ => String::new(),
            };
            format!("{} of what this memory delivers to {threads}{from}{kept} (MBU)", percent(mbu))
        }
        _ => unknown(roof, &threads),
    };
    format!("decode reads {bytes} per token, {} GB/s in traced calls: {part}", gb_per_s(d.bytes_per_s))
}

/// What is known without a ceiling, and why there is none.
fn unknown(roof: &Roof, threads: &str) -> String {
    let why = match roof.no_read {
        None | Some(NoCeiling::NotMeasured) => "is unknown".to_owned(),
        Some(why) => format!("cannot be used ({})", no_ceiling(why)),
    };
    let peak = format!("the memory's peak rate for {threads} {why}");
    match roof.limits().read {
        Some(top) if top.source == CeilingSource::Profile => {
            format!("{peak}; the board's profile has {} GB/s", gb_per_s(top.per_s as f64))
        }
        Some(top) => format!("{peak}; the fastest operator read {} GB/s", gb_per_s(top.per_s as f64)),
        None => peak,
    }
}

fn by_module(modules: &[Sum]) -> Option<String> {
    let of = |phase: Phase| modules.iter().filter(move |s| s.phase == phase);
    let measured = |p: &Phase| !matches!(p, Phase::Draft | Phase::WarmUp) && of(*p).next().is_some();
    let phase = PHASES.into_iter().find(measured)?;
    let name = |s: &Sum| s.module.map_or("", Module::name);
    let parts: Vec<String> = of(phase)
        .filter(|s| s.share >= LEAST)
        .take(MOST)
        .map(|s| format!("{} {}", name(s), percent(s.share)))
        .collect();
    let phase = if phase == Phase::Unknown { "time" } else { phase.name() };
    // A single module does not show the parts of a model.
    (parts.len() > 1).then(|| format!("{phase} by module: {}", parts.join(" · ")))
}

/// GB/s (10⁹ bytes per second) with three digits.
pub(super) fn gb_per_s(bytes_per_s: f64) -> String {
    let gb = bytes_per_s / 1e9;
    let decimals = if gb < 9.995 { 2 } else { usize::from(gb < 99.95) };
    format!("{gb:.decimals$}")
}
