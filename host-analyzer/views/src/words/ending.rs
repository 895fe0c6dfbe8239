//! The sentence about how a session ended.

use super::{duration, one_line, size};
use profinfer_analysis::ending::{Child, Ending, EndingCode, Memory};

/// What happened, and what to do. `None` if there is nothing to report.
#[must_use]
pub fn sentence(e: &Ending) -> Option<String> {
    let who = who(e);
    Some(match e.code {
        EndingCode::Computed | EndingCode::NotAsked => return None,
        EndingCode::EngineFailed => failed(e, &who),
        EndingCode::EngineEnded => format!(
            "No token was generated: {who} ended before its first token. Its exit status is unknown or 0. Let the agent start it \
             (`-- COMMAND`) to record its status and its last lines"
        ),
        EndingCode::NoProcess => match &e.waited_for {
            Some(name) => format!(
                "No process named `{}` appeared while the agent waited. Check the name (`ps -e`), or set it with --name or --target",
                one_line(name)
            ),
            None => "No engine process appeared while the agent waited. Check the name that it waits for"
                .to_owned(),
        },
        EndingCode::NoProbe if e.tried == Some(0) => format!(
            "Nothing was recorded: {who} maps no part of llama.cpp or of another GGML engine. Check that it is the engine; \
             `profinfer-agent engine PID` examines a process"
        ),
        EndingCode::NoProbe => format!(
            "No probe was attached to {who}, so nothing was recorded. The probes below show the reason; `profinfer-agent engine PID` \
             examines a process"
        ),
        EndingCode::OutOfMemory => out_of_memory(e, &who),
        EndingCode::CallUnreturned => unreturned(e, &who),
        EndingCode::PidNamespace => {
            let inside = e.inside_pid.map_or_else(String::new, |pid| format!(" (as process {pid})"));
            format!(
                "Nothing was recorded: {who} runs in a PID namespace below the agent's{inside}, and the kernel assigns no event to it. \
                 Run the agent on the host, or inside the engine's container"
            )
        }
        EndingCode::PackedLibrary => {
            let file = e.file.as_deref().map(one_line).unwrap_or_default();
            format!(
                "Nothing was recorded: {who} maps its libraries out of the archive {file}, in which no probe can be placed. Let the app \
                 unpack its libraries (android:extractNativeLibs=\"true\")"
            )
        }
        EndingCode::ChildrenCompute => {
            let shown = |c: &Child| one_line(if c.command.is_empty() { &c.name } else { &c.command });
            let children: Vec<String> =
                e.children.iter().map(|c| format!("{} ({})", c.pid, shown(c))).collect();
            let one = children.len() == 1;
            format!(
                "Nothing was recorded: {who} computes nothing itself. Its child{} {} the same engine and {} not traced: trace {} with \
                 --pid, or all by the option --follow",
                if one { "" } else { "ren" },
                if one {
                    format!("{} runs", children.join(", "))
                } else {
                    format!("{} run", children.join(", "))
                },
                if one { "is" } else { "are" },
                if one { "it" } else { "one of them" },
            )
        }
        EndingCode::Refused => "The agent could not carry out the plan".to_owned(),
        EndingCode::CutShort => "No token was recorded before the stream stops".to_owned(),
        EndingCode::NothingComputed => format!(
            "No token was generated: {who} computed nothing while the probes were attached. Send it a request while the agent records"
        ),
    })
}

fn who(e: &Ending) -> String {
    match (e.pid, &e.name) {
        (Some(pid), Some(name)) if !name.is_empty() => format!("{} (process {pid})", one_line(name)),
        (Some(pid), _) => format!("process {pid}"),
        (None, _) => "the engine".to_owned(),
    }
}

fn failed(e: &Ending, who: &str) -> String {
    let how = match (e.signal, e.status) {
        (Some(signal), _) => format!("was ended by signal {signal}{}", signal_name(signal)),
        (None, Some(status)) => format!("exited with status {status}"),
        (None, None) => "failed".to_owned(),
    };
    let (nothing, when) = when(e);
    let memory = e.memory.map_or_else(String::new, |m| format!(" ({})", memory_words(&m)));
    let output = match e.output.as_slice() {
        [] => ". Its standard error has no diagnostic that may be shown".to_owned(),
        lines => {
            let lines: Vec<String> = lines.iter().map(|l| one_line(l)).collect();
            format!(". Its last diagnostics: {}", lines.join(" | "))
        }
    };
    format!("{nothing}{who} {how} {when}{memory}{output}")
}

/// The beginning of a sentence about an engine that has ended, and when it did.
const fn when(e: &Ending) -> (&'static str, &'static str) {
    if e.traced {
        ("", "after its last token")
    } else {
        ("No token was generated: ", "before its first token")
    }
}

/// The status of a program that the agent did not start is unknown: which process was killed, too.
fn out_of_memory(e: &Ending, who: &str) -> String {
    let (nothing, when) = when(e);
    let figures = e.memory.map_or_else(String::new, |m| format!(": {}", memory_words(&m)));
    format!(
        "{nothing}{who} ended {when}, and the kernel killed a process of its control group because memory ran out{figures}. Give the \
         group more memory, or let the engine use less: a smaller model or context, no kept prompts (--cache-ram 0)"
    )
}

fn unreturned(e: &Ending, who: &str) -> String {
    let open = e.open_ns.map_or_else(String::new, |ns| format!(" in {}", duration(ns)));
    let first = format!("A llama_decode call of {who} began and did not return{open}");
    let Some(memory) = e.memory.filter(|m| m.is_reason) else { return first };
    format!("{first}. The reason is the memory of its control group: {}", memory_words(&memory))
}

fn memory_words(m: &Memory) -> String {
    let mut parts = Vec::new();
    parts.extend(m.high_bytes.map(|b| format!("memory.high {}", size(b))));
    parts.extend(m.limit_bytes.map(|b| format!("limit {}", size(b))));
    parts.extend(m.used_bytes.map(|b| format!("{} in use", size(b))));
    parts.extend(m.oom_kills.filter(|n| *n > 0).map(|n| {
        format!("{n} {} killed because memory ran out", if n == 1 { "process" } else { "processes" })
    }));
    parts.extend(m.high_events.filter(|n| *n > 0).map(|n| format!("memory.high exceeded {n} times")));
    parts.extend(
        m.stalled_ns
            .filter(|ns| *ns > 0)
            .map(|ns| format!("all tasks waited for memory for {}", duration(ns))),
    );
    parts.join(", ")
}

const fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        4 => " (SIGILL: an instruction that this CPU does not have)",
        6 => " (SIGABRT: it aborted itself)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL: a user killed it, or the kernel did because memory ran out)",
        11 => " (SIGSEGV: invalid memory access)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
