//! `format` files of tracepoints: offsets that programs may read, or the reason against it.

use profinfer_agent::observe::sched::format::{Format, number, symbols};

/// The bytes are a file.
pub fn format(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (symbols(&text), number(&text));
    let Ok(format) = Format::parse(&text) else { return };
    for name in ["prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid", "pid", "target_cpu", "vec"] {
        for size in [4, 8, 16] {
            if let Ok(offset) = format.offset(name, size) {
                assert!((8..=8192).contains(&offset), "{name} at {offset}");
            }
        }
    }
    let _ = (format.text("name").map_err(|why| why.to_string()), symbols(&format.print));
}
