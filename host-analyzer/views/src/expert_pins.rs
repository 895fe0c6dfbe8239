//! A profile of expert uses for engines that pin experts in memory: CSV of `layer,expert,count`.
//!
//! Stage: view. From: uses by layer and expert. To: a header, then one row per used expert, by layer
//! and number.
//!
//! Format: the file that llama.cpp's proposals to pin experts read from `LLAMA_EXPERT_PIN_PROFILE`.

use std::io::{self, Write};

use profinfer_analysis::expert::ByLayer;

/// Writes the profile. Returns the number of its rows.
///
/// # Errors
/// Those of `out`.
pub fn expert_pins(uses: &ByLayer, out: &mut dyn Write) -> io::Result<u64> {
    writeln!(out, "layer,expert,count")?;
    let mut rows = 0;
    for (layer, uses) in uses {
        for (expert, count) in uses.iter().enumerate().filter(|(_, count)| **count > 0) {
            writeln!(out, "{layer},{expert},{count}")?;
            rows += 1;
        }
    }
    Ok(rows)
}
