//! The purposes of probes.

/// The purpose of a probe. The order is that in which they may be removed: starts before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProbeKind {
    /// Entry and return of `llama_model_load_from_file`.
    LoadModel,
    /// Entry and return of `llama_init_from_model`.
    NewContext,
    /// Entry and return of `llama_decode`.
    LlamaDecode,
    /// Entry and return of `llama_process`.
    LlamaProcess,
    /// Entry and return of `llama_encode`.
    LlamaEncode,
    /// Entry of `llama_batch_ext_clear`.
    BatchClear,
    /// Entry of `llama_batch_ext_add`, `…_add_token` or `…_add_embd`.
    BatchAdd,
    /// Entry of `llama_batch_ext_add_seq`.
    BatchSequence,
    /// Entry of `llama_batch_ext_set_pos`.
    BatchPosition,
    /// Entry of `llama_batch_ext_set_output_logits` or `…_set_output_embd`.
    BatchOutput,
    /// Entry of `llama_memory_seq_rm`.
    SequenceCut,
    /// Entry of `llama_memory_seq_cp`.
    SequenceCopy,
    /// Entry of `llama_memory_clear`.
    MemoryClear,
    /// Entry and return of `llama_state_seq_get_data_ext`, or of the older `llama_state_seq_get_data`.
    SaveState,
    /// Entry and return of `llama_state_seq_set_data_ext`, or of the older `llama_state_seq_set_data`.
    RestoreState,
    /// Entry and return of `ggml_gallocr_reserve_n`, which allocates the memory of a graph anew.
    AllocateGraph,
    /// Entry and return of `ggml_backend_sched_synchronize`, which waits until all backends have computed.
    Synchronize,
    /// Entry of a function that returns one output of a decode call, such as `llama_get_logits_ith`. Attached
    /// before the decode calls themselves: of a recorded call, no taken output is missed.
    OutputTaken,
    /// Entry of a function that returns all outputs, such as `llama_get_logits`.
    OutputsTaken,
    /// Entry and return of `ggml_backend_sched_graph_compute_async` (of old builds:
    /// `…_sched_graph_compute`).
    SchedulerGraph,
    /// Entry and return of `ggml_graph_compute`.
    CpuGraph,
    /// Entry of `ggml_backend_graph_compute_async`, or the scheduler's call of a backend's function
    /// where that was inlined.
    BackendGraph,
    /// A `call` instruction with `(params, tensor)` in the argument registers: an operator starts.
    OpStart,
    /// A `call` to a fused kernel with `(params, first, last)` in the argument registers.
    OpFused,
    /// An instruction that every operator reaches when its work is done.
    OpEnd,
    /// Entry and return of `ggml_compute_forward(params, tensor)` where it is a separate function:
    /// start and end.
    OpFunction,
    /// Entry and return of a backend's function that is one complete operator of a scheduler split.
    /// Its slot among the [`BackendFunction`](crate::BackendFunction)s identifies it.
    BackendOp(u8),
    /// As above, for a function that works inside operators.
    NestedCall(u8),
}

/// A level of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Decode calls.
    Token,
    /// Graphs.
    Graph,
    /// Operators.
    Operator,
}

impl Level {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Token, Self::Graph, Self::Operator];
}

impl ProbeKind {
    /// Level that it serves.
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Self::LoadModel | Self::NewContext => Level::Token,
            Self::LlamaDecode | Self::LlamaProcess | Self::LlamaEncode => Level::Token,
            Self::BatchClear | Self::BatchAdd | Self::BatchSequence => Level::Token,
            Self::BatchPosition | Self::BatchOutput => Level::Token,
            Self::OutputTaken | Self::OutputsTaken => Level::Token,
            Self::SequenceCut | Self::SequenceCopy | Self::MemoryClear => Level::Token,
            Self::SaveState | Self::RestoreState => Level::Token,
            Self::SchedulerGraph | Self::CpuGraph | Self::BackendGraph => Level::Graph,
            Self::AllocateGraph | Self::Synchronize => Level::Graph,
            Self::OpStart | Self::OpFused | Self::OpEnd | Self::OpFunction => Level::Operator,
            Self::BackendOp(_) | Self::NestedCall(_) => Level::Operator,
        }
    }

    /// It observes the start of an engine.
    #[must_use]
    pub const fn loads(self) -> bool {
        matches!(self, Self::LoadModel | Self::NewContext)
    }

    /// It observes how the engine fills a batch, which outputs it takes, or how it edits the memory.
    #[must_use]
    pub const fn around_calls(self) -> bool {
        matches!(
            self,
            Self::BatchClear
                | Self::BatchAdd
                | Self::BatchSequence
                | Self::BatchPosition
                | Self::BatchOutput
                | Self::SequenceCut
                | Self::SequenceCopy
                | Self::MemoryClear
                | Self::OutputTaken
                | Self::OutputsTaken
        )
    }

    /// It observes what the engine does for itself between operators.
    #[must_use]
    pub const fn keeps_house(self) -> bool {
        matches!(self, Self::SaveState | Self::RestoreState | Self::AllocateGraph | Self::Synchronize)
    }

    /// A level can be traced without it.
    #[must_use]
    pub const fn is_extra(self) -> bool {
        self.loads() || self.around_calls() || self.keeps_house()
    }

    /// The slot of its function, for a backend other than the CPU.
    #[must_use]
    pub const fn backend_slot(self) -> Option<u8> {
        match self {
            Self::BackendOp(slot) | Self::NestedCall(slot) => Some(slot),
            _ => None,
        }
    }

    /// Whether the return is probed, too.
    #[must_use]
    pub const fn has_return(self) -> bool {
        !matches!(self, Self::OpStart | Self::OpFused | Self::OpEnd | Self::BackendGraph)
            && !self.around_calls()
    }
}
