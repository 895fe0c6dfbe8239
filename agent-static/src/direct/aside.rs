//! Work on a stopped engine, on a thread that the kernel can end at once.
//!
//! A stopped engine continues when its tracer has ended, but a killed process first closes its
//! files. A session's files include uprobes, and the kernel waits 10 to 100 ms for each, on a busy
//! machine seconds. The engine would stay stopped for all that time. So the tracer is a separate
//! thread whose only file is the engine's memory. If the session's thread traces the engine since
//! its start, that thread must do the work, because a ptrace(2) relation belongs to one thread.

use super::checks::tasks;
use super::memory::Memory;
use super::refused::Refused;
use crate::sys::thread::own_files;
use crate::target::watch::Watch;

/// Runs `work`, which stops the process `pid` and lets it continue.
///
/// # Errors Those of `work`, and if no thread could be started.
pub(super) fn run<T: Send>(
    pid: u32,
    memory: &Memory,
    called: Option<i32>,
    watch: &mut Watch,
    work: impl FnOnce(Option<i32>, &mut Watch) -> Result<T, Refused> + Send,
) -> Result<T, Refused> {
    if called.is_some() || tasks(pid).into_iter().any(|tid| watch.knows(tid) || watch.is_deferred(tid)) {
        return work(called, watch);
    }
    let thread = || {
        // Without a separate file table (out of memory) everything works, but a killed agent holds
        // the engine longer.
        let _ = own_files(memory.file());
        // When this thread ends, the kernel releases its remaining tracees.
        work(None, &mut Watch::default())
    };
    std::thread::scope(|scope| {
        let failed = |answer: String| Refused::NotAllowed(answer);
        let thread =
            std::thread::Builder::new().spawn_scoped(scope, thread).map_err(|e| failed(e.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(failed("the tracing thread failed".to_owned())))
    })
}
