//! Loss at the source, and the end of a session.
//!
//! Loss is data: every probe hit in the kernel is either delivered or counted here.

use serde::{Deserialize, Serialize};

use super::totals::totals;

totals! {
    /// Totals since the session began; the last one received holds.
    ///
    /// `span_ends = spans_sent + spans_ring_full + spans_queue_full + spans_no_start + spans_no_graph`
    /// holds in every record taken while no operator event is between kernel and queue, and always in
    /// [`End`].
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Loss {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Hits of the operator start probes, fused ones included.
        pub span_starts: u64,
        /// Hits of the operator end probe.
        pub span_ends: u64,
        /// Spans handed to the link.
        pub spans_sent: u64,
        /// Spans lost because the kernel's ring buffer was full.
        pub spans_ring_full: u64,
        /// Spans lost because the link was too slow and its queue full.
        pub spans_queue_full: u64,
        /// At the edges of the session: operators that were running, or whose graph call was, when the probes were
        /// attached or the session ended.
        pub spans_no_start: u64,
        /// Starts without an end: operators still running, or left by another way, when the session ended.
        pub spans_no_end: u64,
        /// Spans whose tensor belongs to no graph whose topology is known.
        pub spans_no_graph: u64,
        /// Token and graph events lost because the ring buffer was full.
        pub calls_ring_full: u64,
        /// Parts of graph topologies lost because the ring buffer was full; the topology is read again.
        pub tensors_ring_full: u64,
        /// Frames of any kind dropped at the link's queue.
        pub frames_queue_full: u64,
        /// Their bytes.
        pub bytes_queue_full: u64,
        /// Probe hits in threads for which the kernel had no room to keep state.
        pub no_state: u64,
    }
}

totals! {
    /// Reasons that [`Loss`] has in one sum with others, and what held up the ring buffer; of the same moment, before it.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct LossReasons {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Of `spans_no_start`: nodes without elements. The engine passes over them, and nothing is lost.
        pub spans_empty: u64,
        /// Of `spans_no_graph`: in graphs with more nodes than the agent reads.
        pub spans_too_large: u64,
        /// Of `spans_no_graph`: in graphs whose memory could not be read.
        pub spans_unreadable: u64,
        /// Of `spans_no_graph`: in graphs that are known, whose record names no node of the graph or ends before it starts.
        pub spans_damaged: u64,
        /// Computations of graphs with more nodes than the agent reads.
        pub graphs_too_large: u64,
        /// Computations of graphs whose memory could not be read.
        pub graphs_unreadable: u64,
        /// How often the reader of the ring buffer found a record that was reserved and not submitted: its thread had lost its CPU.
        pub ring_stalls: u64,
        /// The longest time for which it did, ns; a lower bound.
        pub ring_stall_ns: u64,
    }
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndReason {
    /// The traced process ended.
    EngineEnded,
    /// The host sent `Stop`, or went away.
    HostStopped,
    /// The agent was interrupted.
    Interrupted,
    /// The agent met an error, told in a probe record or on its terminal.
    Error,
}

/// Last record of a session. A stream without it was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// Frames made before this one, dropped ones included: the sequence number of this frame.
    pub frames: u32,
    /// Final totals.
    pub loss: Loss,
    /// Run time of the agent's BPF programs, ns, by the kernel's bpf_stats, which the agent switches on for a short
    /// while twice a second: a sample. 0 when not measured.
    pub bpf_run_ns: u64,
    /// Runs in that sample; 0 when not measured.
    pub bpf_runs: u64,
    /// CPU time that the agent itself used, ns.
    pub agent_cpu_ns: u64,
    /// Largest resident set of the agent while it traced, bytes; looking through the engine's files is left out.
    pub agent_rss_bytes: u64,
}
