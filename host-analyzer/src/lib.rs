//! The desk: from the bytes of a stream to views.
//!
//! ```text
//! bytes ─▶ decode ─▶ ingest ─▶ model ─▶ analyses ─▶ views ─▶ files, terminal
//!          records    order,    tables   pure         bytes
//!          or damage  meaning            functions
//! ```
//!
//! Borders, held by `tests/borders.rs`: `decode` uses the wire only and never opens a file; `ingest`
//! uses wire, decode and model; `model` uses nothing of ours, so a second wire version cannot leak into
//! a view; `analyses` use the model; `views` use model and analyses and compute nothing that an analysis
//! should; only `commands` knows clap, files, sockets and the terminal.

pub mod analyses;
pub mod commands;
pub mod decode;
pub mod ingest;
pub mod model;
pub mod views;
