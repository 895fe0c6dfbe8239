//! Synthetic recordings for tests, those of other crates included (feature `test-support`).
//!
//! [`session::session`] makes a stream from a seed, with the truth behind it; not a line of the wire crate is in it, so that what both get wrong
//! would have to be got wrong twice, in two ways of writing. [`tables`] fills tables as a large model would, without a stream.
//!
//! ```
//! use profinfer_trace::test_support::session::{SMALL, session};
//!
//! let sent = session(7, SMALL);
//! let model = profinfer_trace::read(&sent.bytes()).expect("a stream");
//! assert_eq!(model.decodes.len(), sent.truth.decodes.len());
//! ```

#![expect(missing_docs, reason = "fields are named as in docs/wire-format.md, which describes them")]

pub mod bytes;
pub mod predicted;
pub mod random;
pub mod records;
pub mod session;
pub mod tables;
pub mod truth;
