//! `analyze mcp FOLDER`: the recordings of a folder for assistants, by the Model Context Protocol on
//! standard input and output. Everything is read-only, and nothing outside of the folder is read.

mod folder;
mod loaded;
mod query;
mod tools;

use rmcp::ServiceExt;

use crate::cli::Mcp;
use crate::{Diagnostic, Result};
use folder::Folder;
use tools::Recordings;

/// Serves until the client closes standard input.
pub(crate) fn mcp(options: &Mcp) -> Result<()> {
    let recordings = Recordings::new(Folder::open(&options.folder)?);
    let failed = |answer: &dyn std::fmt::Display| {
        let help = "an assistant starts this command and talks to it: docs/programs/mcp.md shows how to configure one";
        Diagnostic::new("talking to an assistant on standard input and output", answer, help)
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| failed(&e))?;
    runtime.block_on(async {
        let service = recordings.serve(rmcp::transport::stdio()).await.map_err(|e| failed(&e))?;
        service.waiting().await.map(|_| ()).map_err(|e| failed(&e))
    })
}
