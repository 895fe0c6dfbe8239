//! The place of a fleet: a local folder, or a bucket with the S3 protocol.
//!
//! Promises: a file is complete or does not exist, and an existing file is never written again. A
//! killed writer leaves nothing under a name that readers use.

mod local;
mod remote;

use std::collections::BTreeSet;
use std::path::PathBuf;

use datafusion::prelude::SessionContext;
use profinfer_cli::{Diagnostic, Result};

use crate::rows::{SCHEMA, Table};
use remote::Remote;

#[derive(Debug)]
pub(crate) enum Place {
    /// A folder.
    Local(PathBuf),
    /// A bucket, and a prefix in it.
    Remote(Remote),
}

/// Result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// The file is new.
    New,
    /// The file exists, and was kept.
    ThereAlready,
}

impl Place {
    /// The named place: a folder, `file:///FOLDER` or `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    ///
    /// A name of another kind, or missing `AWS_*` variables.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let folder = name.strip_prefix("file://").unwrap_or(name);
        match folder.split_once("://") {
            Some(("s3" | "s3a", rest)) => remote::of(rest).map(Self::Remote),
            Some((other, _)) => Err(Diagnostic::new(
                format!("opening {name}"),
                format!("{other}:// is not supported"),
                "name a folder or s3://BUCKET/PREFIX",
            )),
            None => std::path::absolute(folder)
                .map(Self::Local)
                .map_err(|e| Diagnostic::new(format!("opening {name}"), e, "name a folder")),
        }
    }

    /// Writes a file, unless it exists. `path` is relative to the place.
    pub(crate) async fn create(&self, path: &str, bytes: Vec<u8>) -> Result<Written> {
        let path = format!("v{SCHEMA}/{path}");
        match self {
            Self::Local(folder) => local::create(&folder.join(path), &bytes),
            Self::Remote(remote) => remote.create(&path, bytes).await,
        }
    }

    /// IDs of all captures in the place.
    pub(crate) async fn captures(&self) -> Result<BTreeSet<String>> {
        let path = format!("v{SCHEMA}/{}", Table::Captures.name());
        let names = match self {
            Self::Local(folder) => local::names(&folder.join(path))?,
            Self::Remote(remote) => remote.names(&path).await?,
        };
        Ok(names.iter().filter_map(|n| n.strip_suffix(".parquet")).map(str::to_owned).collect())
    }

    /// The URL of a table's files.
    pub(crate) fn url(&self, table: Table) -> String {
        let below = format!("v{SCHEMA}/{}/", table.name());
        match self {
            Self::Local(folder) => format!("{}/{below}", local::url(folder)),
            Self::Remote(remote) => format!("{}/{below}", remote.url()),
        }
    }

    /// Registers the place in the query engine.
    pub(crate) fn register(&self, context: &SessionContext) -> Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Remote(remote) => remote.register(context),
        }
    }
}
