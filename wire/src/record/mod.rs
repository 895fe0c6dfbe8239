//! The records, one file per family. Other modules use the same family names.
//!
//! A published record never changes. A new need gets a new kind. Retired kinds stay unused.

pub mod capture;
pub mod ceiling;
pub mod clock;
pub mod control;
pub mod controller;
pub mod cost;
pub mod counter;
pub mod cpu_use;
pub mod direct;
pub mod duty;
pub mod edit;
pub mod ending;
pub mod expert;
pub mod fact;
pub mod filter;
pub mod gauge;
pub mod graph;
pub mod housekeeping;
pub mod loss;
pub mod nested;
pub mod op;
pub mod part;
pub mod piece;
pub mod sched;
pub mod session;
pub mod start_up;
pub mod token;
mod totals;
pub mod weight;

use serde::{Deserialize, Serialize, Serializer};

use crate::frame::{self, Frame, MAX_ENCODED, MAX_PAYLOAD};

/// Kind numbers, the first field of a frame. 0xF000 and above are for private use.
pub mod kind {
    /// [`super::session::Session`].
    pub const SESSION: u16 = 0x01;
    /// [`super::session::Text`].
    pub const TEXT: u16 = 0x02;
    /// [`super::session::Process`].
    pub const PROCESS: u16 = 0x03;
    /// [`super::session::Library`].
    pub const LIBRARY: u16 = 0x04;
    /// [`super::session::Thread`].
    pub const THREAD: u16 = 0x05;
    /// [`super::session::Probe`].
    pub const PROBE: u16 = 0x06;
    /// [`super::cost::ProbeCost`].
    pub const PROBE_COST: u16 = 0x07;
    /// [`super::counter::Counter`].
    pub const COUNTER: u16 = 0x08;
    /// [`super::gauge::Gauge`].
    pub const GAUGE: u16 = 0x09;
    /// [`super::weight::Buffer`].
    pub const BUFFER: u16 = 0x0a;
    /// [`super::fact::Fact`].
    pub const FACT: u16 = 0x0c;
    /// [`super::ceiling::Ceiling`].
    pub const CEILING: u16 = 0x0b;
    /// [`super::ceiling::CeilingPoint`].
    pub const CEILING_POINT: u16 = 0x18;
    /// [`super::ceiling::CeilingLoad`].
    pub const CEILING_LOAD: u16 = 0x19;
    /// [`super::direct::ProbesUsed`].
    pub const PROBES_USED: u16 = 0x0f;
    /// [`super::capture::CaptureOptions`].
    pub const CAPTURE_OPTIONS: u16 = 0x0d;
    /// [`super::filter::Filter`].
    pub const FILTER: u16 = 0x0e;
    /// [`super::token::Decode`].
    pub const DECODE: u16 = 0x10;
    /// [`super::part::PartBatch`].
    pub const PART_BATCH: u16 = 0x11;
    /// [`super::part::PartLoss`].
    pub const PART_LOSS: u16 = 0x12;
    /// [`super::session::Library2`].
    pub const LIBRARY2: u16 = 0x13;
    /// [`super::session::Agent`].
    pub const AGENT: u16 = 0x14;
    /// [`super::start_up::StartUp`].
    pub const START_UP: u16 = 0x15;
    /// [`super::edit::Edit`].
    pub const EDIT: u16 = 0x16;
    /// [`super::token::Taken`].
    pub const TAKEN: u16 = 0x17;
    /// [`super::housekeeping::Housekeeping`].
    pub const HOUSEKEEPING: u16 = 0x1a;
    /// [`super::graph::Topology`].
    pub const TOPOLOGY: u16 = 0x20;
    /// [`super::graph::Tensors`].
    pub const TENSORS: u16 = 0x21;
    /// [`super::graph::GraphCall`].
    pub const GRAPH_CALL: u16 = 0x22;
    /// [`super::graph::Past`].
    pub const PAST: u16 = 0x23;
    /// [`super::weight::PlacementBatch`].
    pub const PLACEMENT_BATCH: u16 = 0x24;
    /// [`super::graph::TensorBatch`].
    pub const TENSOR_BATCH: u16 = 0x25;
    /// [`super::op::SpanBatch`].
    pub const SPAN_BATCH: u16 = 0x30;
    /// [`super::counter::CountedBatch`].
    pub const COUNTED_BATCH: u16 = 0x31;
    /// [`super::op::PredictedBatch`].
    pub const PREDICTED_BATCH: u16 = 0x32;
    /// [`super::nested::NestedBatch`].
    pub const NESTED_BATCH: u16 = 0x38;
    /// [`super::expert::ExpertBatch`].
    pub const EXPERT_BATCH: u16 = 0x40;
    /// [`super::expert::ExpertLoss`].
    pub const EXPERT_LOSS: u16 = 0x41;
    /// [`super::gauge::GaugeBatch`].
    pub const GAUGE_BATCH: u16 = 0x50;
    /// [`super::sched::Task`].
    pub const TASK: u16 = 0x60;
    /// [`super::sched::SchedBatch`].
    pub const SCHED_BATCH: u16 = 0x61;
    /// [`super::sched::InterruptBatch`].
    pub const INTERRUPT_BATCH: u16 = 0x62;
    /// [`super::cpu_use::CpuUseBatch`].
    pub const CPU_USE_BATCH: u16 = 0x63;
    /// [`super::clock::Clock`].
    pub const CLOCK: u16 = 0x70;
    /// [`super::direct::DirectLoss`].
    pub const DIRECT_LOSS: u16 = 0x7b;
    /// [`super::duty::ProbeSwitch`].
    pub const PROBE_SWITCH: u16 = 0x71;
    /// [`super::controller::ControllerStep`].
    pub const CONTROLLER_STEP: u16 = 0x72;
    /// [`super::capture::CaptureLoss`].
    pub const CAPTURE_LOSS: u16 = 0x73;
    /// [`super::piece::Piece`].
    pub const PIECE: u16 = 0x74;
    /// [`super::piece::PieceEnd`].
    pub const PIECE_END: u16 = 0x75;
    /// [`super::cpu_use::CpuUseLoss`].
    pub const CPU_USE_LOSS: u16 = 0x79;
    /// [`super::loss::LossReasons`].
    pub const LOSS_REASONS: u16 = 0x7a;
    /// [`super::ending::Ending`].
    pub const ENDING: u16 = 0x78;
    /// [`super::sched::SchedLoss`].
    pub const SCHED_LOSS: u16 = 0x7c;
    /// [`super::nested::NestedLoss`].
    pub const NESTED_LOSS: u16 = 0x7d;
    /// [`super::loss::Loss`].
    pub const LOSS: u16 = 0x7e;
    /// [`super::loss::End`].
    pub const END: u16 = 0x7f;
    /// [`super::control::Plan`], host to agent.
    pub const PLAN: u16 = 0x100;
    /// [`super::control::Start`], host to agent.
    pub const START: u16 = 0x101;
    /// [`super::control::Stop`], host to agent.
    pub const STOP: u16 = 0x102;
    /// [`super::control::Refused`], agent to host.
    pub const REFUSED: u16 = 0x103;
    /// [`super::control::CounterRequest`], host to agent.
    pub const COUNTER_REQUEST: u16 = 0x104;
    /// [`super::control::Resume`], host to agent.
    pub const RESUME: u16 = 0x105;
    /// [`super::control::GaugeRequest`], host to agent.
    pub const GAUGE_REQUEST: u16 = 0x106;
    /// [`super::control::BenchRequest`], host to agent.
    pub const BENCH_REQUEST: u16 = 0x107;
    /// [`super::direct::ProbesRequest`], host to agent.
    pub const PROBES_REQUEST: u16 = 0x108;
    /// [`super::capture::CaptureRequest`], host to agent.
    pub const CAPTURE_REQUEST: u16 = 0x109;
    /// [`super::filter::FilterRequest`], host to agent.
    pub const FILTER_REQUEST: u16 = 0x10a;
    /// [`super::control::Refused2`], agent to host.
    pub const REFUSED2: u16 = 0x10b;
}

/// Declares [`Record`], its decoding and its encoding from one table, so that every kind has both.
macro_rules! records {
    ($($(#[$doc:meta])* $name:ident = $kind:path => $ty:ty,)*) => {
        /// Any record. Serializes as its content alone, without the kind.
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
        #[serde(untagged)]
        pub enum Record<'a> {
            $($(#[$doc])* $name($ty),)*
        }

        impl<'a> Record<'a> {
            /// Decodes the record in a frame.
            ///
            /// # Errors
            /// [`RecordError::Unknown`] for a kind that this build does not know: skip and count
            /// it. [`RecordError::Malformed`] when the payload is not a valid record of the kind.
            pub fn decode(frame: &Frame<'a>) -> Result<Self, RecordError> {
                match frame.kind {
                    $($kind => decode_payload(frame.payload).map(Record::$name),)*
                    kind => Err(RecordError::Unknown { kind }),
                }
                .map_err(|e| match e {
                    RecordError::Malformed { .. } => RecordError::Malformed { kind: frame.kind },
                    e @ RecordError::Unknown { .. } => e,
                })
            }

            /// The record's kind number.
            #[must_use]
            pub const fn kind(&self) -> u16 {
                match self {
                    $(Record::$name(_) => $kind,)*
                }
            }

            /// Encodes the payload into `out`; `None` when it is longer than [`MAX_PAYLOAD`].
            #[must_use]
            pub fn encode<'b>(&self, out: &'b mut [u8; MAX_PAYLOAD]) -> Option<&'b [u8]> {
                match self {
                    $(Record::$name(r) => postcard::to_slice(r, out),)*
                }
                .ok()
                .map(|s| &*s)
            }
        }
    };
}

records! {
    /// First record of a session.
    Session = kind::SESSION => session::Session<'a>,
    /// An interned string.
    Text = kind::TEXT => session::Text<'a>,
    /// A traced process.
    Process = kind::PROCESS => session::Process<'a>,
    /// The agent's process.
    Agent = kind::AGENT => session::Agent,
    /// The start of an engine.
    StartUp = kind::START_UP => start_up::StartUp,
    /// A library of the engine in a traced process, its roles as text. Older agents send it.
    Library = kind::LIBRARY => session::Library<'a>,
    /// A library of the engine in a traced process.
    Library2 = kind::LIBRARY2 => session::Library2<'a>,
    /// A thread of a traced process.
    Thread = kind::THREAD => session::Thread<'a>,
    /// The result for a probe.
    Probe = kind::PROBE => session::Probe<'a>,
    /// Cost of a probe on this machine.
    ProbeCost = kind::PROBE_COST => cost::ProbeCost,
    /// The result for a counter.
    Counter = kind::COUNTER => counter::Counter<'a>,
    /// The result for a gauge.
    Gauge = kind::GAUGE => gauge::Gauge<'a>,
    /// A buffer of the engine that holds weights.
    Buffer = kind::BUFFER => weight::Buffer<'a>,
    /// A fact of the system or of a process.
    Fact = kind::FACT => fact::Fact<'a>,
    /// The board's best result in a measurement.
    Ceiling = kind::CEILING => ceiling::Ceiling<'a>,
    /// The board's best result at one working set.
    CeilingPoint = kind::CEILING_POINT => ceiling::CeilingPoint<'a>,
    /// Who held the CPUs while a ceiling was measured.
    CeilingLoad = kind::CEILING_LOAD => ceiling::CeilingLoad<'a>,
    /// How a process's operators are probed.
    ProbesUsed = kind::PROBES_USED => direct::ProbesUsed<'a>,
    /// The capture options in force.
    CaptureOptions = kind::CAPTURE_OPTIONS => capture::CaptureOptions,
    /// A filter in force.
    Filter = kind::FILTER => filter::Filter<'a>,
    /// A decode call.
    Decode = kind::DECODE => token::Decode,
    /// Sequences and positions of the tokens of a decode call.
    PartBatch = kind::PART_BATCH => part::PartBatch<'a>,
    /// Totals of the tokens in batches, and of those without sequence and position.
    PartLoss = kind::PART_LOSS => part::PartLoss,
    /// The engine edits the memory of a context.
    Edit = kind::EDIT => edit::Edit,
    /// Outputs of a decode call were taken.
    Taken = kind::TAKEN => token::Taken,
    /// The engine copies the state of a sequence, or allocates the memory of a graph anew.
    Housekeeping = kind::HOUSEKEEPING => housekeeping::Housekeeping,
    /// Head of a graph's topology.
    Topology = kind::TOPOLOGY => graph::Topology,
    /// A part of a graph's topology.
    Tensors = kind::TENSORS => graph::Tensors<'a>,
    /// One computation of a graph.
    GraphCall = kind::GRAPH_CALL => graph::GraphCall,
    /// The context length at which a computation of a graph began.
    Past = kind::PAST => graph::Past,
    /// Which buffer holds which weight of a topology.
    PlacementBatch = kind::PLACEMENT_BATCH => weight::PlacementBatch<'a>,
    /// A part of a graph's topology, in fewer bytes.
    TensorBatch = kind::TENSOR_BATCH => graph::TensorBatch<'a>,
    /// Operator spans of one thread in one graph call.
    SpanBatch = kind::SPAN_BATCH => op::SpanBatch<'a>,
    /// As the span batch, with counters.
    CountedBatch = kind::COUNTED_BATCH => counter::CountedBatch<'a>,
    /// Operator spans of one thread in one graph call, in fewer bytes.
    PredictedBatch = kind::PREDICTED_BATCH => op::PredictedBatch<'a>,
    /// Calls of backend functions inside operators.
    NestedBatch = kind::NESTED_BATCH => nested::NestedBatch<'a>,
    /// Selections of the routers in one graph call.
    ExpertBatch = kind::EXPERT_BATCH => expert::ExpertBatch<'a>,
    /// Totals of selected experts, and of lost ones.
    ExpertLoss = kind::EXPERT_LOSS => expert::ExpertLoss,
    /// Values of the gauges at one time.
    GaugeBatch = kind::GAUGE_BATCH => gauge::GaugeBatch<'a>,
    /// A task that was on a CPU that a thread of the engine wanted or left.
    Task = kind::TASK => sched::Task<'a>,
    /// Events of the scheduler.
    SchedBatch = kind::SCHED_BATCH => sched::SchedBatch<'a>,
    /// Interrupts on CPUs with threads of the engine.
    InterruptBatch = kind::INTERRUPT_BATCH => sched::InterruptBatch<'a>,
    /// Who had the CPUs.
    CpuUseBatch = kind::CPU_USE_BATCH => cpu_use::CpuUseBatch<'a>,
    /// Several clocks, read at once.
    Clock = kind::CLOCK => clock::Clock,
    /// Totals and losses of direct probes.
    DirectLoss = kind::DIRECT_LOSS => direct::DirectLoss,
    /// Capture of a process's operators begins or ends.
    ProbeSwitch = kind::PROBE_SWITCH => duty::ProbeSwitch,
    /// The controller changed the share of decode calls with operators.
    ControllerStep = kind::CONTROLLER_STEP => controller::ControllerStep,
    /// Totals of what options and filters left out.
    CaptureLoss = kind::CAPTURE_LOSS => capture::CaptureLoss,
    /// A piece of a recording begins.
    Piece = kind::PIECE => piece::Piece,
    /// A piece of a recording ends, and another one follows.
    PieceEnd = kind::PIECE_END => piece::PieceEnd,
    /// Reasons of losses that are parts of one sum.
    LossReasons = kind::LOSS_REASONS => loss::LossReasons,
    /// How an engine ended, or why nothing was traced.
    Ending = kind::ENDING => ending::Ending<'a>,
    /// Totals and losses of the scheduler level.
    SchedLoss = kind::SCHED_LOSS => sched::SchedLoss,
    /// Totals and losses of the CPUs' use.
    CpuUseLoss = kind::CPU_USE_LOSS => cpu_use::CpuUseLoss,
    /// Totals and losses of nested calls.
    NestedLoss = kind::NESTED_LOSS => nested::NestedLoss,
    /// Totals and losses.
    Loss = kind::LOSS => loss::Loss,
    /// Last record of a session.
    End = kind::END => loss::End,
    /// What to capture.
    Plan = kind::PLAN => control::Plan<'a>,
    /// Begin capturing.
    Start = kind::START => control::Start,
    /// End capturing.
    Stop = kind::STOP => control::Stop,
    /// A requested counter.
    CounterRequest = kind::COUNTER_REQUEST => control::CounterRequest<'a>,
    /// A requested gauge.
    GaugeRequest = kind::GAUGE_REQUEST => control::GaugeRequest<'a>,
    /// Ceilings to measure before the session.
    BenchRequest = kind::BENCH_REQUEST => control::BenchRequest<'a>,
    /// The requested kind of operator probes.
    ProbesRequest = kind::PROBES_REQUEST => direct::ProbesRequest,
    /// Requested capture options.
    CaptureRequest = kind::CAPTURE_REQUEST => capture::CaptureRequest,
    /// A requested filter on operators or decode calls.
    FilterRequest = kind::FILTER_REQUEST => filter::FilterRequest<'a>,
    /// A request to send frames again.
    Resume = kind::RESUME => control::Resume,
    /// The agent cannot carry out the plan; the reason as one text. Older agents send it.
    Refused = kind::REFUSED => control::Refused<'a>,
    /// The agent cannot carry out the plan.
    Refused2 = kind::REFUSED2 => control::Refused2<'a>,
}

impl Record<'_> {
    /// Encodes the record as the frame with number `seq` into `out` and returns its bytes, the
    /// ending zero included; `None` when the payload is longer than [`MAX_PAYLOAD`].
    #[must_use]
    pub fn encode_frame<'b>(&self, seq: u32, out: &'b mut [u8; MAX_ENCODED]) -> Option<&'b [u8]> {
        let mut payload = [0; MAX_PAYLOAD];
        let payload = self.encode(&mut payload)?;
        let len = frame::encode(&Frame { kind: self.kind(), seq, payload }, out)?;
        out.get(..len)
    }
}

/// Why a frame's payload is not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordError {
    /// A kind that this build does not know.
    Unknown {
        /// The kind number.
        kind: u16,
    },
    /// The bytes are not a record of that kind.
    Malformed {
        /// The kind number.
        kind: u16,
    },
}

/// Writes a slice of bytes at once. The bytes are the same as by serde's default for slices, which
/// writes one element at a time.
fn as_bytes<S: Serializer>(bytes: &&[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

/// Decodes a complete payload. Bytes left over are an error, because a record never grows.
fn decode_payload<'a, T: Deserialize<'a> + Serialize>(payload: &'a [u8]) -> Result<T, RecordError> {
    match postcard::take_from_bytes::<T>(payload) {
        Ok((record, [])) => Ok(record),
        _ => Err(RecordError::Malformed { kind: 0 }),
    }
}
