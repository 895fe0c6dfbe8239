//! Recordings that were read. The last one stays, because an assistant asks several questions about it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::folder::Folder;
use crate::ceilings::{self, store::Store};
use crate::command::record;
use crate::{Result, analyse::analyse, board};
use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// A recording of one process, with its results.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) model: Model,
    pub(super) analysis: Analysis,
}

/// The file, when it was written, and the process that was asked for.
type Key = (PathBuf, Option<SystemTime>, Option<u32>);

#[derive(Debug)]
pub(super) struct Cache {
    pub(super) folder: Folder,
    last: Mutex<Option<(Key, Arc<Loaded>)>>,
}

impl Cache {
    pub(super) const fn new(folder: Folder) -> Self {
        Self { folder, last: Mutex::new(None) }
    }

    /// A recording, with the figures that `analyze RECORDING` shows.
    pub(super) fn load(&self, recording: &str, process: Option<u32>) -> Result<Arc<Loaded>> {
        let path = self.folder.path(recording)?;
        let written = path.metadata().and_then(|m| m.modified()).ok();
        let key = (path, written, process);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, loaded)) = &*last
            && *known == key
        {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(load(&key.0, process)?);
        *last = Some((key, Arc::clone(&loaded)));
        Ok(loaded)
    }
}

fn load(path: &Path, process: Option<u32>) -> Result<Loaded> {
    let paths = [path.to_owned()];
    let mut model = match process {
        Some(pid) => {
            let all = record::recording(&paths)?;
            record::engine(&all, pid, &all.engines())?
        }
        None => record::one_engine(&paths)?,
    };
    board::recognise(&mut model, None, false);
    ceilings::complete(&mut model, None, Store::of_user().as_ref());
    let analysis = analyse(&model);
    Ok(Loaded { model, analysis })
}
