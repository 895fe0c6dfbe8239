//! Work on a stopped engine, in a thread that the kernel can end at once.
//!
//! An engine that is held goes on when its tracer has ended, and a process that is killed first closes its files. Those of a session
//! are uprobes, for each of which the kernel waits some 10 to 100 ms, on a busy machine seconds: so long the engine would stand still. So
//! the tracer is a thread of its own, without files but the engine's memory. Where the session's own thread traces the engine from
//! its start, that thread must do it: ptrace(2) belongs to a thread.

use super::checks::tasks;
use super::memory::Memory;
use super::refused::Refused;
use crate::sys::thread::own_files;
use crate::target::watch::Watch;

/// Runs `work`, which stops the process `pid`, and lets it go on.
///
/// # Errors
/// Those of `work`, and when there is no thread for it.
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
        // Without a table of its own (no memory for it) all goes as well, but for how long a killed agent holds the engine.
        let _ = own_files(memory.file());
        // What is still traced when this thread ends is let go by the kernel.
        work(None, &mut Watch::default())
    };
    std::thread::scope(|scope| {
        let failed = |answer: String| Refused::NotAllowed(answer);
        let thread =
            std::thread::Builder::new().spawn_scoped(scope, thread).map_err(|e| failed(e.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(failed("the thread that held it failed".to_owned())))
    })
}
