//! Why direct probes are refused: typed, and as text for the terminal.

use std::fmt;

use profinfer_engine::NoDirect;
use profinfer_wire::record::direct::why;

/// Why an engine gets no direct probes. In that case nothing in it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Counters are read at operators, which only the BPF programs can do.
    Counters,
    /// Selected experts are read at operators, which only the BPF programs can do.
    Experts,
    /// Capturing starts only, or a thread filter, is requested; only the BPF programs support
    /// these.
    Capture,
    /// The agent has no stubs for the engine's processor, or the engine is built for another one.
    Architecture,
    /// No file of the engine has suitable places.
    NoPlaces,
    /// The code of a file is unsuitable for this reason.
    Code(NoDirect),
    /// Another tracer (debugger, strace) holds a thread of the engine.
    Tracer(u32),
    /// The kernel does not let the agent stop a thread; its answer.
    NotAllowed(String),
    /// A thread did not stop in time.
    DoesNotStop(i32),
    /// The engine is stopped by job control.
    JobControl,
    /// The engine has a seccomp filter, which may kill it for an unexpected system call.
    Seccomp,
    /// The engine is in another PID namespace.
    PidNamespace,
    /// The processor's clock is unsuitable for this reason.
    Clock(&'static str),
    /// The offset of the thread id in control blocks was not found.
    NoThreadNumber,
    /// No free space within reach of the engine's code, or in a code segment's last page.
    NoRoom,
    /// The file is not mapped as it was examined.
    NotMapped,
    /// The code at this address differs from the file: a uprobe, a breakpoint or another change.
    Changed(u64),
    /// The instruction at this address crosses a page boundary and could not be patched in one
    /// step.
    TwoPages(u64),
    /// Another agent, with this pid, has direct probes in this engine.
    OtherAgent(u64),
    /// No thread of the engine is suitable for the bootstrap right now.
    NoThread,
    /// The engine's system rejected a mapping: the call and its answer.
    Mapping(&'static str, String),
    /// The agent cannot access the memory that the engine mapped.
    Unreachable(String),
    /// The engine ended in the meantime.
    Ended,
    /// This agent was built without direct probes.
    NotBuilt,
}

impl Refused {
    /// The wire's code for the reason.
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

    /// The system's answer or the finding, if the code alone is not enough; otherwise empty.
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

    /// How to get direct probes.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Counters => "disable the counters (--counters none)",
            Self::Experts => "disable the experts (--levels token,graph,op)",
            Self::Capture => "remove --ends none and --only-threads",
            Self::Architecture
            | Self::NoPlaces
            | Self::Code(_)
            | Self::NoThreadNumber
            | Self::TwoPages(_) => {
                "use uprobes with this build of the engine; `profinfer-agent engine` shows its probe places"
            }
            Self::Tracer(_) => "end the debugger or strace that holds the engine",
            Self::NotAllowed(_) => "run the agent as root, and see /proc/sys/kernel/yama/ptrace_scope",
            Self::DoesNotStop(_) | Self::NoThread | Self::NoRoom => "try again, or use uprobes",
            Self::JobControl => "continue the engine (kill -CONT)",
            Self::Seccomp => {
                "start the engine without the filter: containers have one unless started with --security-opt \
                 seccomp=unconfined"
            }
            Self::PidNamespace => "run the agent in the engine's container",
            Self::Clock(_) => "use uprobes on this machine",
            Self::NotMapped | Self::Ended => "restart the engine",
            Self::Changed(_) => {
                "stop the tracer that has a probe there; `profinfer-agent repair` removes leftovers of a killed agent"
            }
            Self::OtherAgent(_) => "stop the other agent",
            Self::Mapping(..) => {
                "allow execmem for the engine in SELinux; check the engine's memory and descriptor limits"
            }
            Self::Unreachable(_) => "run the agent with CAP_SYS_ADMIN",
            Self::NotBuilt => "use an agent that was built with the feature `direct`",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = match self {
            Self::Counters => "counters are read at operators, which only the BPF programs can do",
            Self::Experts => "experts are read at operators, which only the BPF programs can do",
            Self::Capture => "only the BPF programs support starts only and thread filters",
            Self::Architecture => "the agent has no stubs for this processor",
            Self::NoPlaces => "no file of the engine has places for direct probes",
            Self::Code(_) => "no place in its code is proved to be safe",
            Self::Tracer(_) => "another tracer holds it",
            Self::NotAllowed(_) => "the kernel does not allow the agent to stop it",
            Self::DoesNotStop(_) => "it does not stop within a second",
            Self::JobControl => "it is stopped by job control",
            Self::Seccomp => "it has a seccomp filter, which may kill it for a system call",
            Self::PidNamespace => "it is in another PID namespace",
            Self::Clock(_) => "the processor's clock cannot be used",
            Self::NoThreadNumber => "the thread id was not found in its threads' control blocks",
            Self::NoRoom => "there is no free space within reach of its code",
            Self::NotMapped => "its file is no longer mapped as it was examined",
            Self::Changed(_) => {
                "its code is not as in the file: there is a uprobe, a breakpoint or another change"
            }
            Self::TwoPages(_) => "an instruction to patch crosses a page boundary",
            Self::OtherAgent(_) => "another agent has direct probes in it",
            Self::NoThread => "none of its threads can be interrupted safely right now",
            Self::Mapping(..) => "its system does not allow it to map the pages",
            Self::Unreachable(_) => "the agent cannot access the memory that it mapped",
            Self::Ended => "it has ended",
            Self::NotBuilt => "this agent was built without the feature `direct`",
        };
        let detail = self.detail();
        if detail.is_empty() { f.write_str(short) } else { write!(f, "{short} ({detail})") }
    }
}
