//! Synthetic recordings for tests, also for those of other crates (feature `test-support`).
//!
//! * [`session::session`] makes a stream from a seed, together with the true values.
//! * [`records`] encodes single records, and [`bytes::hello`] and [`bytes::frame`] make a stream of
//!   them.
//! * [`tables::model`] fills tables as a large model would, without a stream.
//! * [`random::Random`] is the random generator of all tests.
//!
//! These modules do not use the wire crate. A mistake in the wire format therefore fails a test
//! unless both encoders make it.
//!
//! ```
//! use profinfer_trace::test_support::session::{SMALL, session};
//!
//! let sent = session(7, SMALL);
//! let model = profinfer_trace::read(&sent.bytes()).expect("a stream");
//! assert_eq!(model.llama_calls.len(), sent.truth.llama_calls.len());
//! ```
//!
//! A stream of chosen records:
//!
//! ```
//! use profinfer_trace::test_support::{bytes, records};
//!
//! let mut stream = bytes::hello(1);
//! let sent = [records::session(5), records::thread(71, 70, "main")];
//! for (seq, (kind, payload)) in (0..).zip(sent) {
//!     stream.extend(bytes::frame(kind, seq, &payload));
//! }
//! let model = profinfer_trace::read(&stream).expect("a stream");
//! assert_eq!(model.session.cpus, 4);
//! assert!(model.health.cut_short());
//! ```

#![expect(missing_docs, reason = "fields are named as in docs/wire-format.md, which describes them")]

pub mod bytes;
pub mod cpu_use;
pub mod predicted;
pub mod random;
pub mod records;
pub mod session;
pub mod tables;
pub mod truth;
