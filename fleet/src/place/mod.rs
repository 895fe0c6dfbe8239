//! Where a fleet is: a local folder, or a bucket behind S3's protocol.
//!
//! Promises: a file is there whole or not at all, and one that is there is never written again. A writer that is killed leaves nothing under
//! a name that readers look at.

mod local;
mod remote;

use std::collections::BTreeSet;
use std::path::PathBuf;

use datafusion::prelude::SessionContext;
use profinfer_cli::{Diagnostic, Result};

use crate::rows::{SCHEMA, Table};
use remote::Remote;

/// A fleet's place.
#[derive(Debug)]
pub(crate) enum Place {
    /// A folder.
    Local(PathBuf),
    /// A bucket, and a prefix in it.
    Remote(Remote),
}

/// What writing a file did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is new.
    New,
    /// Another one is there, and stays.
    ThereAlready,
}

impl Place {
    /// The place that is named: a folder, `file:///FOLDER` or `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    /// A name of another kind, or what `AWS_*` variables lack.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let folder = name.strip_prefix("file://").unwrap_or(name);
        match folder.split_once("://") {
            Some(("s3" | "s3a", rest)) => remote::of(rest).map(Self::Remote),
            Some((other, _)) => Err(Diagnostic::new(
                format!("opening {name}"),
                format!("nothing is known of {other}://"),
                "name a folder or s3://BUCKET/PREFIX",
            )),
            None => std::path::absolute(folder)
                .map(Self::Local)
                .map_err(|e| Diagnostic::new(format!("opening {name}"), e, "name a folder")),
        }
    }

    /// Writes a file, unless it is there. `path` is below the place.
    pub(crate) async fn create(&self, path: &str, bytes: Vec<u8>) -> Result<Written> {
        let path = format!("v{SCHEMA}/{path}");
        match self {
            Self::Local(folder) => local::create(&folder.join(path), &bytes),
            Self::Remote(remote) => remote.create(&path, bytes).await,
        }
    }

    /// Ids of all captures that are there.
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

    /// Tells the query engine how to get there.
    pub(crate) fn register(&self, context: &SessionContext) -> Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Remote(remote) => remote.register(context),
        }
    }
}
