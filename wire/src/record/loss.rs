//! Losses at the source, and the end of a session.
//!
//! Losses are data: every probe hit in the kernel is either delivered or counted here.

use serde::{Deserialize, Serialize};

use super::totals::totals;

totals! {
    /// Totals since the session began; the last one received is valid.
    ///
    /// `span_ends = spans_sent + spans_ring_full + spans_queue_full + spans_no_start +
    /// spans_no_graph` holds in every record taken while no operator event is between kernel and
    /// queue, and always in [`End`].
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
        /// At the edges of the session: operators that were running, or whose graph call was
        /// running, when the probes were attached or the session ended.
        pub spans_no_start: u64,
        /// Starts without an end: operators that were still running when the session ended, or that
        /// left in another way.
        pub spans_no_end: u64,
        /// Spans whose tensor belongs to no known topology.
        pub spans_no_graph: u64,
        /// Token and graph events lost because the ring buffer was full.
        pub calls_ring_full: u64,
        /// Parts of graph topologies lost because the ring buffer was full. The agent reads the
        /// topology again.
        pub tensors_ring_full: u64,
        /// Frames of any kind dropped at the link's queue.
        pub frames_queue_full: u64,
        /// Their bytes.
        pub bytes_queue_full: u64,
        /// Probe hits in threads for which the kernel had no space to keep state.
        pub no_state: u64,
    }
}

totals! {
    /// Parts of sums in [`Loss`], and delays of the ring buffer. Taken at the same moment and sent
    /// before it.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct LossReasons {
        /// When the totals were taken, ns.
        pub at_ns: u64,
        /// Part of `spans_no_start`: nodes without elements. The engine skips them, and nothing is
        /// lost.
        pub spans_empty: u64,
        /// Part of `spans_no_graph`: in graphs with more nodes than the agent reads.
        pub spans_too_large: u64,
        /// Part of `spans_no_graph`: in graphs whose memory could not be read.
        pub spans_unreadable: u64,
        /// Part of `spans_no_graph`: in known graphs, where the record names no node of the graph
        /// or ends before it starts.
        pub spans_damaged: u64,
        /// Computations of graphs with more nodes than the agent reads.
        pub graphs_too_large: u64,
        /// Computations of graphs whose memory could not be read.
        pub graphs_unreadable: u64,
        /// How often the reader of the ring buffer found a record that was reserved and not
        /// submitted, because its thread was switched out.
        pub ring_stalls: u64,
        /// The longest time that this lasted, ns; a lower bound.
        pub ring_stall_ns: u64,
    }
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndReason {
    /// The traced process ended.
    EngineEnded,
    /// The host sent `Stop`, or disconnected.
    HostStopped,
    /// The agent was interrupted.
    Interrupted,
    /// The agent had an error, which a probe record or its terminal shows.
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
    /// Run time of the agent's BPF programs, ns, from the kernel's bpf_stats. The agent samples: it
    /// switches them on for a short time twice a second. 0 when not measured.
    pub bpf_run_ns: u64,
    /// Runs in that sample; 0 when not measured.
    pub bpf_runs: u64,
    /// CPU time of the agent itself, ns.
    pub agent_cpu_ns: u64,
    /// Largest resident set of the agent while it traced, bytes, without the examination of the
    /// engine's files.
    pub agent_rss_bytes: u64,
}
