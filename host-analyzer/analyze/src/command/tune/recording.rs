//! Estimates from one recording of the engine.

use std::path::Path;

use super::{Diagnostic, Result, ceilings, folder, record, runs};
use crate::ceilings::{Sources, store::Store};
use crate::cli::Tune;
use profinfer_analysis::tune::Prediction;
use profinfer_views::words;

/// True for a file or a folder with the pieces of one recording. A folder of folders is a series.
pub(super) fn is_one(source: &Path) -> Result<bool> {
    if !source.is_dir() {
        return Ok(true);
    }
    let is_piece = runs::of(source).is_ok_and(|found| found.len() == 1 && found[0] == *source);
    Ok(is_piece && folder::folders(source)?.is_empty())
}

/// The estimates for other settings.
pub(super) fn estimated(source: &Path, options: &Tune) -> Result<Prediction> {
    let mut model = record::one_engine(&[source.to_owned()])?;
    let measured = options.ceilings.as_deref().map(|path| ceilings::read(path, &record::read)).transpose()?;
    let (measured, store) = (measured.as_ref(), Store::of_user());
    for line in ceilings::settle(&mut model, &Sources { measured, store, boards: None, bench: false }) {
        eprintln!("{line}");
    }
    Prediction::compute(&model, options.practical.0, options.warm_up).map_err(|lacking| {
        let (answer, help) = words::tune::lacking(&lacking);
        Diagnostic::new(format!("estimating other settings from {}", source.display()), answer, help)
    })
}
