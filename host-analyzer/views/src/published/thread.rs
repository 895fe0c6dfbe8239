//! `threads`: threads that computed operators.

use super::Publish;
use profinfer_analysis::thread;

fields! {
    thread::Thread => Thread {
        tid, pid, name, spans, migrated, work_ns, wait_ns, prefill_work_ns, prefill_wait_ns,
        decode_work_ns, decode_wait_ns, batch_decode_work_ns, batch_decode_wait_ns,
    }
}
