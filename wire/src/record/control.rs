//! Host to agent: what to capture, start, stop.

use serde::{Deserialize, Serialize};

use super::gauge::{GaugeKind, GaugeParse, GaugeUnit};

/// Bits of [`Plan::levels`].
pub mod level {
    /// Token level.
    pub const TOKEN: u32 = 1;
    /// Graph level.
    pub const GRAPH: u32 = 2;
    /// Operator level. It needs the graph level's probes and attaches them too.
    pub const OP: u32 = 4;
    /// Selections of the routers of mixture-of-experts models; needs the operator level.
    pub const EXPERT: u32 = 8;
    /// What the kernel's scheduler does with the engine's threads.
    pub const SCHED: u32 = 16;
    /// All levels that this build knows.
    pub const ALL: u32 = TOKEN | GRAPH | OP | EXPERT | SCHED;
}

/// What to capture. The host resolves the board profile; the agent only obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan<'a> {
    /// Version of the wire format that the host reads.
    pub wire_version: u16,
    /// Board profile that the plan was made from; if empty, the agent names one.
    pub board: &'a str,
    /// Levels to capture, see [`level`].
    pub levels: u32,
    /// Process name to wait for; if empty, the agent traces the target of its own command line.
    pub target: &'a str,
}

/// A counter to read at the start and end of every operator. Sent between plan and start, one
/// record per core type, in the order of the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterRequest<'a> {
    /// Event name as in Arm's manuals (`L3D_CACHE_REFILL`), or a software event as perf names it
    /// (`minor-faults`).
    pub name: &'a str,
    /// Event number; 0 for a software event, or to use the PMU's own number for the name.
    pub event: u32,
    /// Main ID register of the cores that have it, without variant and revision (`MIDR_EL1 &
    /// 0xff00fff0`); 0 for a software event, [`ANY_CORE`] for every core type.
    pub midr: u32,
}

/// Stands for every core type. No MIDR has this value.
pub const ANY_CORE: u32 = 0xff00_fff0;

/// Where a gauge's values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GaugeSource<'a> {
    /// Files.
    File {
        /// Path from `/`. Each `*` matches any part of one name. Each matching file is a gauge.
        path: &'a str,
        /// Format of the files' text.
        parse: GaugeParse,
    },
    /// A system-wide PMU.
    Pmu {
        /// Its name in `/sys/bus/event_source/devices`.
        pmu: &'a str,
        /// Event, as named in the PMU's folder `events`.
        event: &'a str,
    },
}

/// A sensor to read while the session runs. Sent between plan and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaugeRequest<'a> {
    /// Name for people.
    pub name: &'a str,
    /// What it measures.
    pub kind: GaugeKind,
    /// Unit of the values to send.
    pub unit: GaugeUnit,
    /// Where the values come from.
    pub source: GaugeSource<'a>,
    /// Time between two samples, ms; the agent limits it to 10 to 1000.
    pub period_ms: u32,
}

/// Measure the board's ceilings before capturing, see [`super::ceiling`]. Sent between plan and
/// start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchRequest<'a> {
    /// CPUs to measure on, `0-3,6`; empty for all that the agent may run on.
    pub cpus: &'a str,
    /// Thread counts to measure with, `1,2,4`; empty leaves the choice to the agent.
    pub threads: &'a str,
    /// Time for all measurements together, ms; 0 leaves it to the agent.
    pub budget_ms: u32,
}

/// Begin capturing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {}

/// The host has all frames before `seq` and requests the hello and all frames from `seq` on. It
/// does so on a new connection after a broken one, and when noise on a serial line destroyed a
/// frame. Frames that the agent no longer keeps are a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Nonce of the session's hello.
    pub nonce: [u8; 16],
    /// Sequence number of the first requested frame.
    pub seq: u32,
}

/// End capturing: the agent detaches, sends its remaining frames, and then `End`. After `End` the
/// host has everything and requests nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {}

/// Longest text in a [`Refused2`], bytes: three of them fit into a frame.
pub const MAX_REFUSED_TEXT: usize = 1000;

/// The agent's answer to a plan that it cannot carry out; the last frame of the session. Each text
/// has at most [`MAX_REFUSED_TEXT`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused2<'a> {
    /// What the agent tried.
    pub tried: &'a str,
    /// What the system answered, or what the agent found.
    pub answer: &'a str,
    /// What to do.
    pub help: &'a str,
}

/// As [`Refused2`], with the parts in one text. Agents sent it until 2026-11-26.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused<'a> {
    /// What was tried, what the system answered, what to do.
    pub reason: &'a str,
}
