//! The CPU backend of each engine, and the memory of its weights.

use std::io::{self, Write};

use super::style::{Colour, Sheet, wrapped};
use crate::words::{one_line, size};
use profinfer_analysis::engine::{CpuBackend, Engine};
use profinfer_analysis::weight::{Buffer, Weights};
use profinfer_trace::model::Memory;

/// Maximum number of contexts; summary.json has all.
const SHOWN: usize = 3;

pub(super) fn write(engines: &[Engine], weights: &[Weights], out: &mut Sheet<'_>) -> io::Result<()> {
    let mut lines: Vec<String> = Vec::new();
    // A process that executes another program is listed again; the last entry is valid.
    let later = |i: usize, pid: u32| engines[i + 1..].iter().any(|e| e.pid == pid);
    for (_, e) in engines.iter().enumerate().filter(|(i, e)| !later(*i, e.pid)).take(SHOWN) {
        let of_process = || if engines.len() > 1 { format!(" of process {}", e.pid) } else { String::new() };
        lines.extend(cpu(e).map(|cpu| format!("CPU backend{}: {cpu}", of_process())));
    }
    for w in weights.iter().take(SHOWN) {
        let of_context = match &w.context {
            Some(context) if weights.len() > 1 => format!(" of context {context}"),
            _ => String::new(),
        };
        lines.push(format!("weights{of_context}: {}", places(w)));
    }
    lines
        .extend(weights.len().checked_sub(SHOWN + 1).map(|n| format!("weights of {} other contexts", n + 1)));
    for line in lines {
        for part in wrapped(&one_line(&line), out.width()) {
            writeln!(out, "{}", Colour::Dim.paint(&part))?;
        }
    }
    Ok(())
}

fn cpu(e: &Engine) -> Option<String> {
    let library = e.cpu_library.as_deref().map(file_name).unwrap_or_default();
    Some(match (e.cpu_backend?, &e.cpu_variant) {
        (CpuBackend::Variant, Some(variant)) => format!("variant {variant} ({library})"),
        (CpuBackend::Variant | CpuBackend::Library, _) => format!("{library}, without variants"),
        (CpuBackend::BuiltIn, _) => format!("built into {library}"),
    })
}

/// `138 MiB: 137 MiB mapped from m.gguf (CPU_Mapped), 0.5 MiB in anonymous memory (CPU_REPACK)`.
fn places(w: &Weights) -> String {
    match &*w.buffers {
        [] => format!("{}, location not recorded", size(w.bytes)),
        [one] => place(one),
        several => {
            let parts: Vec<String> = several.iter().map(place).collect();
            format!("{}: {}", size(w.bytes), parts.join(", "))
        }
    }
}

fn place(b: &Buffer) -> String {
    let kind = b.buffer.as_deref().map_or(String::new(), |kind| format!(" ({kind})"));
    let memory = match (b.memory, b.path.as_deref()) {
        (Memory::File, Some(path)) => format!("mapped from {}", file_name(path)),
        (Memory::File, None) => "mapped from a file".to_owned(),
        (Memory::Anonymous, _) => "in anonymous memory".to_owned(),
        (Memory::Device, _) => "on a device".to_owned(),
        (Memory::Unknown, _) => "at an unknown location".to_owned(),
    };
    format!("{} {memory}{kind}", size(b.bytes))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
