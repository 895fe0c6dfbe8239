//! Text from the traced process on its way into a sink: names of tensors, command lines, paths of libraries.
//!
//! Stage: view. From: any text. To: the same text, harmless in its sink. One file a sink. What has no file here needs none: JSON
//! (serde_json), protobuf of Perfetto and columns of Parquet carry any text unchanged, and are read by programs. The data inside a
//! page is base64 (`page_data`).
//!
//! ```text
//! line   terminal, DOT     nothing steers the terminal or changes the order in which text is seen
//! dot    DOT               nothing leaves its quotes
//! csv    CSV               nothing leaves its cell, and no spreadsheet takes a text for a formula
//! marker ftrace            nothing ends its line or begins a field of it
//! ```

mod csv;
mod dot;
mod line;
mod marker;

pub(super) use csv::field;
pub(super) use dot::quoted;
pub use line::one_line;
pub(super) use marker::marker;
