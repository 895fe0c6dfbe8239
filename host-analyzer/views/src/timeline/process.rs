//! Processes with their tracks.

use profinfer_analysis::track::Track;
use profinfer_trace::model::{self, Model};

/// One process of the timeline.
pub(crate) struct Process<'a> {
    /// Process id; 0 when the stream did not tell.
    pub(crate) pid: u32,
    /// Short name.
    pub(crate) name: String,
    /// Command line; empty when the stream did not tell.
    pub(crate) command: &'a str,
    /// Its tracks.
    pub(crate) tracks: &'a [Track],
}

/// The processes that have tracks, which are in order of processes already.
pub(crate) fn processes<'a>(model: &'a Model, tracks: &'a [Track]) -> impl Iterator<Item = Process<'a>> + 'a {
    tracks.chunk_by(|a, b| a.process == b.process).map(move |tracks| {
        let pid = tracks[0].process;
        let known = model.session.processes.iter().find(|p| p.pid == pid);
        Process { pid, name: name(known, pid), command: known.map_or("", |p| &p.command), tracks }
    })
}

fn name(known: Option<&model::Process>, pid: u32) -> String {
    match known {
        Some(p) if !p.name.is_empty() => p.name.clone(),
        _ if pid == 0 => "process unknown".to_owned(),
        _ => format!("process {pid}"),
    }
}
