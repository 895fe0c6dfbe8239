//! Profiles that accelerator backends wrote to files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Diagnostic, Result};
use profinfer_trace::ingest::accelerator;
use profinfer_trace::model::{AcceleratorProfile, Model};

/// Limit of the file size, bytes. Larger files would fill the memory.
const LARGEST: u64 = 1 << 30;

const HELP: &str = "give cl_profiling.csv or cl_trace.json of the OpenCL backend, or the engine's log of a run with GGML_VK_PERF_LOGGER=1 or with \
                    GGML_HEXAGON_PROFILE=1 and -v; see docs/accelerators.md. The recording is kept: run `analyze` on it again \
                    with the file";

/// Puts the profiles of the files into the model. Call it after a capture, because the engine
/// writes the files when it exits.
pub(crate) fn settle(model: &mut Model, files: &[PathBuf]) -> Result<()> {
    let mut profiles = files.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    accelerator::pair(&mut profiles);
    model.accelerators = profiles;
    Ok(())
}

fn read(path: &Path) -> Result<AcceleratorProfile> {
    let name = path.display().to_string();
    let refused = |e: &dyn std::fmt::Display| Diagnostic::new(format!("reading the profile {name}"), e, HELP);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| refused(&e))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| refused(&e))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refused(&"it has more than 1 GiB"));
    }
    let short = path.file_name().map_or_else(|| name.clone(), |n| n.to_string_lossy().into_owned());
    accelerator::read(&short, &bytes)
        .ok_or_else(|| refused(&"the format is unknown: not a profile of a supported backend"))
}
