//! An example of the start of an engine.

use profinfer_wire::record::Record;
use profinfer_wire::record::start_up::{StartUp, moment};

pub(crate) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let sample = StartUp {
        pid: 4100,
        at_ns: 2_050_000_000,
        exec_ns: 2_000_000_000,
        moment: moment::ENGINE_LOADED,
        run_ns: Some(31_000_000),
        wait_ns: Some(2_000_000),
        user_ns: Some(20_000_000),
        system_ns: Some(10_000_000),
        process_ns: Some(30_000_000),
        minor_faults: Some(1_200),
        major_faults: Some(7),
        read_bytes: None,
        resident_bytes: Some(12_288_000),
        file_bytes: Some(8_192_000),
        held_ns: 4_000_000,
    };
    check("start-up", &Record::StartUp(sample));
}
