//! Whether large tables are in memory or in files: by option, or because they would not fit.

mod memory;

use std::io::{self, Write};
use std::path::Path;
use std::process;

use profinfer_scratch::has_begun;

use crate::{Diagnostic, Result};

/// Folder for temporary files that are too large for a memory file system (Filesystem Hierarchy
/// Standard).
const USUAL: &str = "/var/tmp";
/// Maximum bytes of memory per byte of a recording: 64 per span, which takes about 3 bytes
/// (docs/performance.md).
const EACH: u64 = 22;

/// From now on, keeps large tables in files of this folder.
pub(crate) fn begin(folder: &Path) -> Result<()> {
    profinfer_scratch::begin(folder, full).map_err(|e| {
        let help = "name a folder on a disk with free space of about 20 times the size of the recording";
        Diagnostic::new(format!("keeping tables in files of {}", folder.display()), e, help)
    })
}

/// The same, if the tables of recordings of this size may need more than three quarters of the
/// available memory. Prints a note.
pub(crate) fn begin_if_too_large(bytes: u64) {
    let (needed, there) = (bytes.saturating_mul(EACH), memory::available());
    if has_begun() || there.is_none_or(|there| needed <= there / 4 * 3) {
        return;
    }
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let sizes = format!(
        "tables may need {:.0} MB, and {:.0} MB of memory are available",
        mb(needed),
        mb(there.unwrap_or(0))
    );
    let _ = match begin(Path::new(USUAL)) {
        Ok(()) => writeln!(
            io::stderr(),
            "{sizes}: keeping them in temporary files in {USUAL}; --scratch names another folder"
        ),
        // Memory may still be enough.
        Err(e) => writeln!(io::stderr(), "{sizes}; {e}"),
    };
}

/// Ends the program: the tables cannot grow.
fn full(folder: &Path, e: &io::Error) -> ! {
    let help = "free space, or name a folder on a larger disk with --scratch: tables take about 20 times the size of the recording";
    let tried = format!("keeping tables in files of {}", folder.display());
    let _ = writeln!(io::stderr(), "error: {}", Diagnostic::new(tried, e, help));
    process::exit(1)
}
