//! What the kernel supports, found by trying it.

use std::fs;
use std::path::Path;

use libbpf_rs::{MapType, ProgramType};

use profinfer_wire::record::control::level;

use super::{Row, Verdict, options};
use crate::bpf::ring::size::LARGEST;
use crate::bpf::stack::STACK_MAX;
use crate::bpf::{Bpf, CounterSlots, Programs, Storage, jit};
use crate::observe::cost::calibrate;
use crate::observe::fact::preemption::preemption;
use crate::observe::sched;
use crate::sys::private_stack::private_stacks;

/// BPF_FUNC_get_attach_cookie of include/uapi/linux/bpf.h.
const GET_ATTACH_COOKIE: u32 = 174;

pub(super) struct Kernel {
    pub(super) rows: Vec<Row>,
    /// Probes work on this kernel.
    pub(super) works: bool,
    /// Cost of a start and an end probe together, ns.
    pub(super) pair_ns: Option<u64>,
}

pub(super) fn examine() -> Kernel {
    let uname = nix::sys::utsname::uname();
    let text = |f: fn(&nix::sys::utsname::UtsName) -> &std::ffi::OsStr| {
        uname.as_ref().map(|u| f(u).to_string_lossy().into_owned()).unwrap_or_default()
    };
    let mut rows =
        vec![Row::info("release", format!("Linux {}, {}", text(|u| u.release()), text(|u| u.machine())))];
    rows.push(Row::info(
        "preemption",
        preemption(Path::new("/")).unwrap_or_else(|why| format!("unknown: {why}")),
    ));
    if !nix::unistd::geteuid().is_root() {
        rows.push(Row::no("BPF", "not tried: the agent is not root"));
        rows.extend(options::rows());
        return Kernel { rows, works: false, pair_ns: None };
    }
    let (mut storage, mut plain) = (Storage::default(), Storage::default());
    let (mut works, mut pair_ns) = (false, None);
    let mut sched = sched::Level::find(level::SCHED);
    let loaded =
        match Bpf::load(&mut storage, LARGEST, CounterSlots::default(), sched.layout(), &Programs::default())
        {
            Err(e) if sched.formats.is_some() => {
                sched.refuse(&e.answer);
                Bpf::load(&mut plain, LARGEST, CounterSlots::default(), None, &Programs::default())
            }
            loaded => loaded,
        };
    match loaded {
        Err(e) => rows.push(Row::no("BPF programs", format!("{}; {}", e.answer, e.help))),
        Ok(bpf) => {
            rows.push(Row::yes("BPF programs", "loaded and accepted by the verifier"));
            let stacks = stacks(&bpf);
            let safe = stacks.verdict != Verdict::No;
            rows.push(stacks);
            let cost = calibrate::probe_cost(&bpf);
            let kind = if bpf.multi() { "by uprobe_multi links" } else { "by perf events" };
            works = safe && cost.is_some();
            pair_ns = cost.as_ref().map(|c| c.pair_ns);
            rows.push(match cost {
                Some(c) => Row::yes(
                    "probes",
                    format!("attached to the agent itself {kind}; two probes per operator cost {} ns", c.pair_ns),
                ),
                None => Row::no(
                    "probes",
                    "cannot be attached: they need CONFIG_UPROBE_EVENTS and CONFIG_BPF_EVENTS (see `options` below)",
                ),
            });
            sched.attach(&bpf);
            rows.push(scheduler(&sched));
            rows.push(match bpf.attach_exec() {
                Ok(_) => {
                    Row::yes("new processes", "observed (raw tracepoint): --name can wait for an engine")
                }
                Err(e) => Row::no(
                    "new processes",
                    format!("not observed ({}): select a running engine with --pid", e.answer),
                ),
            });
        }
    }
    rows.push(supported("ring buffer", MapType::RingBuf.is_supported()));
    rows.extend(unneeded());
    rows.extend(options::rows());
    Kernel { rows, works, pair_ns }
}

/// Whether another task can overwrite the stack of a preempted program.
fn stacks(bpf: &Bpf<'_>) -> Row {
    const WHAT: &str = "BPF stacks";
    let (functions, deepest) = bpf.stacks();
    let ours = format!("{functions} functions use at most {deepest} bytes of stack");
    match (private_stacks(), jit::with_private_stack(&bpf.names())) {
        (false, _) => Row::yes(WHAT, format!("separate for each task; {ours}")),
        (true, Some(programs)) if !programs.is_empty() => Row::no(
            WHAT,
            format!("tasks on one CPU share them in {}: do not trace on this kernel", programs.join(", ")),
        ),
        (true, Some(_)) => Row::yes(
            WHAT,
            format!(
                "this kernel uses per-CPU stacks for functions with more than {STACK_MAX} bytes; {ours}: none gets one"
            ),
        ),
        (true, None) => Row::yes(
            WHAT,
            format!(
                "this kernel uses per-CPU stacks for functions with more than {STACK_MAX} bytes; {ours}; it shows no machine code to verify that"
            ),
        ),
    }
}

/// The scheduler level: whether its programs load with the tracepoint formats of the kernel, and
/// attach.
fn scheduler(sched: &sched::Level) -> Row {
    const WHAT: &str = "scheduler level";
    let refusals: Vec<String> = sched.refusals().map(|(name, why)| format!("{name}: {why}")).collect();
    match (&sched.formats, refusals.is_empty()) {
        (Some(formats), true) => {
            Row::yes(WHAT, format!("attached to its tracepoints; format from {}", formats.shown))
        }
        (Some(_), false) => Row::no(WHAT, format!("without interrupts: {}", refusals.join("; "))),
        (None, _) => Row::no(WHAT, refusals.join("; ")),
    }
}

fn supported(what: &str, answer: libbpf_rs::Result<bool>) -> Row {
    match answer {
        Ok(true) => Row::yes(what, "available"),
        Ok(false) => Row::no(what, "not available: needs Linux 5.8 or newer"),
        Err(e) => Row::no(what, format!("could not be tried: {e}")),
    }
}

/// Features that other tools need and the agent does not.
fn unneeded() -> Vec<Row> {
    let btf = match fs::metadata("/sys/kernel/btf/vmlinux") {
        Ok(m) => format!("available, {} kB; not needed", m.len() / 1024),
        Err(_) => "not available; not needed".to_owned(),
    };
    let cookies = match ProgramType::Kprobe.is_helper_supported(GET_ATTACH_COOKIE) {
        Ok(true) => "available; not needed",
        _ => "not available; not needed",
    };
    let profile = Path::new("/sys/kernel/tracing/uprobe_events");
    // If tracefs is not mounted, no tool has added uprobes through it.
    let others = fs::read_to_string(profile).map(|t| t.lines().count()).unwrap_or(0);
    let mut rows = vec![Row::info("BTF", btf), Row::info("cookies", cookies)];
    if others > 0 {
        let said = format!("{others} in {}: of other tools; they cost time too", profile.display());
        rows.push(Row::info("other uprobes", said));
    }
    rows
}
