//! What a session really was, in words of its own: names and kernel thread ids, no ids of wire or model.

/// An operator run by a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// Start of the graph call it belongs to, which tells calls of one layer apart.
    pub(crate) call_start: u64,
    pub(crate) tid: u32,
    pub(crate) node: u32,
    pub(crate) last: u32,
    pub(crate) start: u64,
    pub(crate) work: u64,
    /// Wait at the barrier behind it.
    pub(crate) wait: u64,
    /// 65535: it is not known, and so whether the operator began on another.
    pub(crate) cpu: u16,
    pub(crate) migrated: bool,
}

/// A graph call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) start: u64,
    pub(crate) duration: u64,
    pub(crate) scheduler: bool,
    pub(crate) topology: Option<usize>,
    pub(crate) n_nodes: u32,
    pub(crate) n_tokens: u32,
    pub(crate) tid: u32,
    /// Start of the token call around it.
    pub(crate) decode: Option<u64>,
    /// Start of the scheduler's call around it.
    pub(crate) parent: Option<u64>,
}

/// A token call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Decode {
    pub(crate) start: u64,
    pub(crate) duration: u64,
    pub(crate) tid: u32,
    pub(crate) context: u64,
    pub(crate) n_tokens: u32,
    pub(crate) status: i32,
}

/// A tensor of a topology.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) op: &'static str,
    pub(crate) dtype: &'static str,
    pub(crate) role: u64,
    pub(crate) ne: [u64; 4],
    pub(crate) bytes: u64,
    pub(crate) view_of: Option<u32>,
    /// Slot and index of its sources.
    pub(crate) src: Vec<(u8, u32)>,
}

/// A graph's topology.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Topology {
    pub(crate) n_nodes: u32,
    pub(crate) tensors: Vec<Tensor>,
}

/// All of it. Calls and decodes by start; spans by call, thread, start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Truth {
    pub(crate) topologies: Vec<Topology>,
    pub(crate) decodes: Vec<Decode>,
    pub(crate) calls: Vec<Call>,
    pub(crate) spans: Vec<Span>,
}
