//! The true values of a session: names and kernel thread ids, no ids of wire or model.

/// An operator run by a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// Start of the graph call it belongs to, which distinguishes calls of one layer.
    pub call_start: u64,
    pub tid: u32,
    pub node: u32,
    pub last: u32,
    pub start: u64,
    pub work: u64,
    /// Wait at the barrier after it.
    pub wait: u64,
    /// 65535: unknown; then it is also unknown whether the operator began on another CPU.
    pub cpu: u16,
    pub migrated: bool,
}

/// A graph call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    pub start: u64,
    pub duration: u64,
    pub scheduler: bool,
    pub topology: Option<usize>,
    pub n_nodes: u32,
    pub n_tokens: u32,
    pub tid: u32,
    /// Start of the decode call around it.
    pub decode: Option<u64>,
    /// Start of the scheduler's call around it.
    pub parent: Option<u64>,
}

/// A decode call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decode {
    pub start: u64,
    pub duration: u64,
    pub tid: u32,
    pub context: u64,
    pub n_tokens: u32,
    pub status: i32,
}

/// A tensor of a topology.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tensor {
    pub name: String,
    pub op: &'static str,
    pub dtype: &'static str,
    pub role: u64,
    pub ne: [u64; 4],
    pub bytes: u64,
    pub view_of: Option<u32>,
    /// Slot and index of its sources.
    pub src: Vec<(u8, u32)>,
}

/// A graph's topology.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Topology {
    pub n_nodes: u32,
    pub tensors: Vec<Tensor>,
}

/// The session. Calls and decode calls by start; spans by call, thread, start.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    pub topologies: Vec<Topology>,
    pub llama_calls: Vec<Decode>,
    pub calls: Vec<Call>,
    pub spans: Vec<Span>,
}
