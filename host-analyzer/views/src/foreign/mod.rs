//! Escapes text from the traced process: names of tensors, command lines, paths of libraries.
//!
//! Stage: view. From: any text. To: the same text, harmless in its format. One file per format. Other
//! formats need no escaping here: JSON (serde_json), Perfetto's protobuf and Parquet columns carry any
//! text unchanged and are read by programs. The data inside a page is base64 (`page_data`).
//!
//! ```text
//! line   terminal, DOT     cannot control the terminal or change the visible order of text
//! dot    DOT               stays in its quotes
//! csv    CSV               stays in its cell, and is no formula to a spreadsheet
//! marker ftrace            stays in its line and field
//! ```

mod csv;
mod dot;
mod line;
mod marker;

pub(super) use csv::field;
pub(super) use dot::quoted;
pub use line::one_line;
pub(super) use marker::marker;
