//! Why direct probes are not put in: typed, and in words for the terminal.

use std::fmt;

use profinfer_engine::NoDirect;
use profinfer_wire::record::direct::why;

/// Why an engine gets no direct probes. Nothing of it was changed then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Counters are read at operators, which only the kernel's programs can.
    Counters,
    /// The experts that routers choose are read at operators, which only the kernel's programs can.
    Experts,
    /// Starts only or a filter on threads is asked for, which are the kernel's programs'.
    Capture,
    /// This agent has no code for the engine's processor, or the engine is built for another one.
    Architecture,
    /// No file of the engine offers places.
    NoPlaces,
    /// One does not, for a reason of its code.
    Code(NoDirect),
    /// A thread of the engine is held by another tracer: a debugger, strace.
    Tracer(u32),
    /// The kernel does not let the agent stop a thread; its answer.
    NotAllowed(String),
    /// A thread does not stop.
    DoesNotStop(i32),
    /// The engine is stopped by job control.
    JobControl,
    /// A seccomp filter guards it, which may kill it for a system call that it does not expect.
    Seccomp,
    /// It has process ids of its own, in another PID namespace.
    PidNamespace,
    /// The processor's clock: why it cannot be read by itself.
    Clock(&'static str),
    /// Where a thread's control block holds its number was not found.
    NoThreadNumber,
    /// No room: within reach of the engine's code, or in a code segment's last page.
    NoRoom,
    /// The file is not mapped as it was examined.
    NotMapped,
    /// The code at this address is not as in the file: a uprobe, a breakpoint, or somebody else's change.
    Changed(u64),
    /// The instruction at this address lies in two pages, and could be changed only in two steps.
    TwoPages(u64),
    /// Another agent, with this process id, records this engine directly.
    OtherAgent(u64),
    /// No thread of the engine can be sent to the bootstrap now.
    NoThread,
    /// The engine's system does not let it map what is needed: the call and its answer.
    Mapping(&'static str, String),
    /// The agent cannot reach what the engine mapped.
    Unreachable(String),
    /// It ended meanwhile.
    Ended,
    /// This agent was built without them.
    NotBuilt,
}

impl Refused {
    /// The wire's number for it.
    #[must_use]
    pub const fn why(&self) -> u16 {
        match self {
            Self::Counters => why::COUNTERS,
            Self::Experts => why::EXPERTS,
            Self::Capture => why::CAPTURE,
            Self::Architecture => why::ARCHITECTURE,
            Self::NoPlaces => why::NO_PLACES,
            Self::Code(_) => why::CODE,
            Self::Tracer(_) => why::TRACER,
            Self::NotAllowed(_) => why::NOT_ALLOWED,
            Self::DoesNotStop(_) => why::DOES_NOT_STOP,
            Self::JobControl => why::JOB_CONTROL,
            Self::Seccomp => why::SECCOMP,
            Self::PidNamespace => why::PID_NAMESPACE,
            Self::Clock(_) => why::CLOCK,
            Self::NoThreadNumber => why::NO_THREAD_NUMBER,
            Self::NoRoom => why::NO_ROOM,
            Self::NotMapped => why::NOT_MAPPED,
            Self::Changed(_) => why::CHANGED,
            Self::TwoPages(_) => why::TWO_PAGES,
            Self::OtherAgent(_) => why::OTHER_AGENT,
            Self::NoThread => why::NO_THREAD,
            Self::Mapping(..) => why::MAPPING,
            Self::Unreachable(_) => why::UNREACHABLE,
            Self::Ended => why::ENDED,
            Self::NotBuilt => why::NOT_BUILT,
        }
    }

    /// What the system answered or what was found, where the number alone does not say it; else empty.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Code(code) => format!("{code:x?}"),
            Self::Tracer(pid) => format!("process {pid}"),
            Self::OtherAgent(pid) => format!("process {pid}"),
            Self::NotAllowed(answer) | Self::Unreachable(answer) => answer.clone(),
            Self::DoesNotStop(tid) => format!("thread {tid}"),
            Self::Clock(what) => (*what).to_owned(),
            Self::Changed(address) | Self::TwoPages(address) => format!("{address:#x}"),
            Self::Mapping(call, answer) => format!("{call}: {answer}"),
            _ => String::new(),
        }
    }

    /// What to do to get direct probes.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Counters => "leave the counters out (--counters none)",
            Self::Experts => "leave the experts out: --levels token,graph,op",
            Self::Capture => "leave out --ends none and --only-threads",
            Self::Architecture
            | Self::NoPlaces
            | Self::Code(_)
            | Self::NoThreadNumber
            | Self::TwoPages(_) => {
                "use uprobes with this build of the engine; `profinfer-agent engine` shows what it offers"
            }
            Self::Tracer(_) => "end the debugger or strace that holds the engine",
            Self::NotAllowed(_) => "run the agent as root, and see /proc/sys/kernel/yama/ptrace_scope",
            Self::DoesNotStop(_) | Self::NoThread | Self::NoRoom => "try again; else use uprobes",
            Self::JobControl => "let the engine go on (kill -CONT)",
            Self::Seccomp => {
                "start the engine without the filter: containers have one unless they get --security-opt \
                 seccomp=unconfined"
            }
            Self::PidNamespace => "run the agent in the engine's container",
            Self::Clock(_) => "use uprobes on this machine",
            Self::NotMapped | Self::Ended => "start the engine again",
            Self::Changed(_) => {
                "end the tracer that has a probe there; `profinfer-agent repair` puts back what a killed agent left"
            }
            Self::OtherAgent(_) => "end the other agent",
            Self::Mapping(..) => {
                "SELinux needs execmem for the engine; see the engine's limits of memory and descriptors"
            }
            Self::Unreachable(_) => "run the agent with CAP_SYS_ADMIN",
            Self::NotBuilt => "use an agent that was built with the feature `direct`",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = match self {
            Self::Counters => "counters are read at operators, and only the kernel's programs can",
            Self::Experts => "experts are read at operators, and only the kernel's programs can",
            Self::Capture => "starts only and filters on threads are the kernel's programs'",
            Self::Architecture => "there is no code for this processor",
            Self::NoPlaces => "its files offer no places for them",
            Self::Code(_) => "its code offers no places that are proved to be safe",
            Self::Tracer(_) => "another tracer holds it",
            Self::NotAllowed(_) => "the kernel does not let the agent stop it",
            Self::DoesNotStop(_) => "it does not stop within a second",
            Self::JobControl => "it is stopped by job control",
            Self::Seccomp => "a seccomp filter guards it, which may kill it for a system call",
            Self::PidNamespace => "it has process ids of its own (PID namespace)",
            Self::Clock(_) => "the processor's clock cannot be used",
            Self::NoThreadNumber => "where its threads keep their number was not found",
            Self::NoRoom => "there is no room within reach of its code",
            Self::NotMapped => "its file is no longer mapped as it was examined",
            Self::Changed(_) => {
                "its code is not as in the file: a uprobe, a breakpoint or another change is there"
            }
            Self::TwoPages(_) => "an instruction that had to be changed lies in two pages",
            Self::OtherAgent(_) => "another agent records it directly",
            Self::NoThread => "none of its threads can be interrupted safely right now",
            Self::Mapping(..) => "its system does not let it map the pages",
            Self::Unreachable(_) => "the agent cannot reach the memory that it mapped",
            Self::Ended => "it has ended",
            Self::NotBuilt => "this agent was built without the feature `direct`",
        };
        let detail = self.detail();
        if detail.is_empty() { f.write_str(short) } else { write!(f, "{short} ({detail})") }
    }
}
