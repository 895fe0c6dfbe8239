//! The example of an ending.

use profinfer_wire::record::Record;
use profinfer_wire::record::ending::{Ending, code};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let ending = Ending {
        at_ns: 2_000_000_000,
        code: code::KILLED,
        pid: 42,
        other: 0,
        status: None,
        signal: Some(11),
        since_ns: 0,
        text: "error: failed to load model",
    };
    check("ending", &Record::Ending(ending));
}
