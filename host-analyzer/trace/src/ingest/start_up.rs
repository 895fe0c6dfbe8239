//! Samples of processes from their exec to their first call.

use profinfer_wire::record::start_up::{StartUp, moment};

use crate::model::{StartMoment, StartSample};

/// Most samples that are kept: the agent sends some hundred per start.
const MAX_SAMPLES: usize = 1 << 16;

pub(super) fn add(rows: &mut Vec<StartSample>, r: &StartUp) {
    if rows.len() >= MAX_SAMPLES {
        return;
    }
    rows.push(StartSample {
        pid: r.pid,
        at_ns: r.at_ns,
        exec_ns: r.exec_ns,
        moment: match r.moment {
            moment::ENGINE_LOADED => StartMoment::EngineLoaded,
            moment::MODEL_BEGINS => StartMoment::ModelBegins,
            moment::MODEL_LOADED => StartMoment::ModelLoaded,
            moment::CONTEXT_BEGINS => StartMoment::ContextBegins,
            moment::CONTEXT_CREATED => StartMoment::ContextCreated,
            moment::FIRST_CALL => StartMoment::FirstCall,
            _ => StartMoment::Sample,
        },
        run_ns: r.run_ns,
        wait_ns: r.wait_ns,
        user_ns: r.user_ns,
        system_ns: r.system_ns,
        process_ns: r.process_ns,
        minor_faults: r.minor_faults,
        major_faults: r.major_faults,
        read_bytes: r.read_bytes,
        resident_bytes: r.resident_bytes,
        file_bytes: r.file_bytes,
        held_ns: r.held_ns,
    });
}
