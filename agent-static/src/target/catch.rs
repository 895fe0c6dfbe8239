//! Stops new processes that are to be traced right after their exec, while the session's thread is
//! busy with others.
//!
//! Examining an engine takes 100 ms and more. In that time another process would reach its first
//! decode call. So a thread reads the kernel's exec events and holds each wanted process with
//! ptrace(2). Each held process has its own thread, because only the thread that traces a
//! process can release it. The session's thread takes them over one by one with [`Catch::release`].
//!
//! If the agent dies, the kernel lets every tracee continue.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use libbpf_rs::{MapHandle, RingBufferBuilder};
use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

use super::process;
use crate::bpf::ring::{Event, TASK_COMM};
use crate::sys::thread::{Go, WaitStatus, go, poll, wait_status};

/// Stack of each thread, bytes of address space.
const STACK: usize = 256 << 10;
/// Most processes held at the same time; further ones run on.
const MOST: usize = 16;
/// A process that nobody takes over continues after this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the thread checks whether it has to end.
const TICK: Duration = Duration::from_millis(200);
/// How long a process may take to stop.
const TO_STOP: Duration = Duration::from_millis(500);

/// A held process. Dropping the sender releases it, and it runs once the thread has ended.
type Held = (Sender<()>, JoinHandle<()>);

/// A process that called exec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    pub pid: u32,
    /// Time of the exec, ns.
    pub at_ns: u64,
    /// Short name of the program, as the kernel stores it: at most 15 bytes, then zeros.
    pub comm: [u8; TASK_COMM],
}

/// The new programs that a session traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Those of this name. A final `*` matches any suffix.
    Named(String),
    /// Those of this process and of the processes below it.
    Below(u32),
}

impl Wanted {
    #[must_use]
    pub fn includes(&self, executed: &Executed) -> bool {
        let pid = executed.pid;
        match self {
            Self::Named(name) => {
                // A process that has ended already had the name.
                let comm = executed.comm.split(|b| *b == 0).next().unwrap_or_default();
                process::has_name(pid, name)
                    || !process::alive(pid) && process::matches(&String::from_utf8_lossy(comm), name)
            }
            // One that has ended already was a short helper: an engine takes longer to load a model.
            Self::Below(root) => process::alive(pid) && process::is_in_tree(pid, *root),
        }
    }
}

/// State that the threads share with the session's thread.
#[derive(Debug, Default)]
struct Shared {
    held: Mutex<BTreeMap<u32, Held>>,
    /// Wanted processes that are stopped, or could not be stopped.
    met: Mutex<Vec<Executed>>,
    ends: AtomicBool,
}

#[derive(Debug)]
pub struct Catch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Catch {
    /// Starts to watch `executions`, the ring buffer of exec events, for wanted processes. `None` if
    /// no thread could be started; then the session's thread handles new processes when it can.
    #[must_use]
    pub fn begin(executions: MapHandle, wanted: Wanted) -> Option<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = Builder::new().name("catch".to_owned()).stack_size(STACK);
        let thread = thread.spawn(move || look(&executions, &wanted, &theirs)).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Wanted processes that called exec since the last call. Those that could be stopped stay
    /// stopped until [`Self::release`].
    pub fn take(&self, met: &mut Vec<Executed>) {
        met.append(&mut locked(&self.shared.met));
    }

    /// Whether the thread runs. It ends at once if it cannot read the events; then the session's
    /// thread handles new processes.
    #[must_use]
    pub fn works(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Whether any process is held.
    #[must_use]
    pub fn holds(&self) -> bool {
        !locked(&self.shared.held).is_empty()
    }

    /// Releases a held process and returns when it runs.
    pub fn release(&self, pid: u32) {
        let held = locked(&self.shared.held).remove(&pid);
        if let Some((hold, thread)) = held {
            drop(hold);
            let _ = thread.join();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Catch {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let left = std::mem::take(&mut *locked(&self.shared.held));
        for (hold, thread) in left.into_values() {
            drop(hold);
            let _ = thread.join();
        }
    }
}

/// Reads the events until the session ends.
fn look(executions: &MapHandle, wanted: &Wanted, shared: &Arc<Shared>) {
    let mut ring = RingBufferBuilder::new();
    let added = ring.add(executions, |bytes| {
        if let Some(Event::Exec(head, at_ns, comm)) = Event::parse(bytes) {
            let executed = Executed { pid: head.tgid, at_ns, comm };
            if wanted.includes(&executed) {
                hold(executed, shared);
            }
        }
        0
    });
    if added.is_err() {
        return;
    }
    let Ok(ring) = ring.build() else { return };
    while !shared.ends.load(Ordering::Relaxed) {
        let _ = ring.poll(TICK);
    }
}

/// Holds a process, on a separate thread.
fn hold(executed: Executed, shared: &Arc<Shared>) {
    let mut held = locked(&shared.held);
    held.retain(|_, (_, thread)| !thread.is_finished());
    if held.len() >= MOST || held.contains_key(&executed.pid) {
        locked(&shared.met).push(executed);
        return;
    }
    let (sender, receiver) = channel();
    let theirs = Arc::clone(shared);
    let thread = Builder::new().name("hold".to_owned()).stack_size(STACK);
    match thread.spawn(move || hold_until(executed, &theirs, &receiver)) {
        Ok(thread) => drop(held.insert(executed.pid, (sender, thread))),
        Err(_) => locked(&shared.met).push(executed),
    }
}

/// Stops the process, reports it to the session's thread, and holds it until the sender is dropped.
fn hold_until(executed: Executed, shared: &Shared, until: &Receiver<()>) {
    let tid = executed.pid.cast_signed();
    let stopped = stop(tid);
    locked(&shared.met).push(executed);
    if let Some(signal) = stopped {
        let _ = until.recv_timeout(PATIENCE);
        let _ = go(tid, Go::Free, signal);
    }
}

/// Stops a process and returns the signal to deliver when it continues (0: none). `None` if it does
/// not stop, because it ended or has another tracer.
fn stop(tid: i32) -> Option<i32> {
    let pid = Pid::from_raw(tid);
    ptrace::seize(pid, Options::empty()).ok()?;
    ptrace::interrupt(pid).ok()?;
    let begun = Instant::now();
    while begun.elapsed() < TO_STOP {
        match poll(tid).ok()?.map(wait_status) {
            // A signal that arrived first is delivered.
            Some(WaitStatus::Signal(signal)) => return Some(signal),
            Some(WaitStatus::Event { .. }) => return Some(0),
            Some(WaitStatus::Ended(_)) => return None,
            None => std::thread::sleep(Duration::from_micros(100)),
        }
    }
    None
}
