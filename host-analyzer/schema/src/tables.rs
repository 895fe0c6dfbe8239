//! The columns of the Parquet tables. The CSV files have the same.

/// A table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// File name without extension.
    pub name: &'static str,
    /// Meaning of a row.
    pub doc: &'static str,
    /// Columns, in order.
    pub columns: &'static [Column],
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnKind,
    /// Values may be null.
    pub nullable: bool,
    /// Meaning.
    pub doc: &'static str,
}

/// Type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer: times, so that differences do not wrap.
    I64,
    /// True or false.
    Bool,
    /// UTF-8 text, plain or dictionary-encoded.
    Text,
}

impl ColumnKind {
    /// Name of the type in Arrow.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::Bool => "bool",
            Self::Text => "text",
        }
    }
}

const fn column(name: &'static str, kind: ColumnKind, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, doc }
}

const fn nullable(name: &'static str, kind: ColumnKind, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, doc }
}

use ColumnKind::{Bool, I32, I64, Text, U16, U32, U64};

/// All tables.
pub const TABLES: [Table; 4] = [
    Table {
        name: "ops",
        doc: "One row per span: one operator on one thread. If counters were recorded, further columns \
              follow: `switches` (uint32), and one column per counter (uint64 or null) with its event name.",
        columns: &[
            nullable("call", U32, "Row in `tokens`; null outside of `llama_decode` calls."),
            column("graph_call", U32, "Number of the graph call."),
            column("phase", Text, "Phase of the `llama_decode` call."),
            column("backend", Text, "Backend that computed it."),
            column("pid", U32, "Process id."),
            column("tid", U32, "Kernel thread id."),
            column("node", U32, "Index in the topology of the graph call."),
            column("last_node", U32, "Index of the last node that the same kernel also computed."),
            column("name", Text, "Tensor name."),
            column("op", Text, "Operator."),
            column("desc", Text, "Operator description from the engine."),
            column("dtype", Text, "Element type."),
            column("ne0", U64, "Elements in the first dimension."),
            column("ne1", U64, "Elements in the second dimension."),
            column("ne2", U64, "Elements in the third dimension."),
            column("ne3", U64, "Elements in the fourth dimension."),
            column("start_ns", I64, "Start, ns from session start."),
            column("work_ns", I64, "Work, ns."),
            nullable("wait_ns", I64, "Barrier wait, ns; null if its end was not seen."),
            nullable(
                "cpu",
                U16,
                "CPU on which it ended; null if the probes did not record it (direct probes on musl or bionic).",
            ),
            nullable("migrated", Bool, "It started on another CPU; null like `cpu`."),
            column(
                "read_bytes",
                U64,
                "Bytes read by the complete execution. Rows of all its threads have the same value: count it once per `graph_call` and `node`.",
            ),
            column("written_bytes", U64, "Bytes written, likewise."),
            column("operations", U64, "Operations, likewise."),
        ],
    },
    Table {
        name: "tokens",
        doc: "One row per `llama_decode` call.",
        columns: &[
            column("id", U32, "Row, from 0."),
            column("phase", Text, "Phase."),
            column("function", Text, "Called function."),
            nullable("context", Text, "Address of the context in hex."),
            column("thread", U32, "Kernel thread id."),
            column("start_ns", I64, "Start, ns from session start."),
            column("duration_ns", I64, "Duration, ns."),
            nullable("n_tokens", U32, "Tokens in the batch."),
            nullable("n_past", U32, "Position of the batch's first token."),
            nullable("n_kv", I64, "KV cells that the attention of the last graph reads."),
            nullable("graph_ns", I64, "Time in graph calls, ns."),
            nullable("op_wall_ns", I64, "Operator wall time, summed over executions, ns."),
            column("status", I32, "Return value; 0 is success."),
            column("traced", Text, "Operator capture: `whole`, `untraced` or `edge`."),
        ],
    },
    Table {
        name: "experts",
        doc: "One row per expert that a router selected for a token. Without routers the table has no rows.",
        columns: &[
            nullable("call", U32, "Row in `tokens`; null outside of `llama_decode` calls."),
            column("graph_call", U32, "Number of the graph call."),
            column("phase", Text, "Phase of the `llama_decode` call."),
            column("pid", U32, "Process id."),
            nullable("layer", U32, "Layer number in `name`."),
            column("node", U32, "Index of the first `MUL_MAT_ID` that uses the selection."),
            column("name", Text, "Name of that `MUL_MAT_ID`."),
            column("token", U32, "Index of the token in the batch, from 0."),
            column("rank", U32, "Rank in the router's order, from 0."),
            nullable("expert", U32, "Expert number; null if the engine skips this product."),
        ],
    },
    Table {
        name: "threads",
        doc: "One row per thread: `threads` of summary.json.",
        columns: &[
            column("tid", U32, "Kernel thread id."),
            column("pid", U32, "Process id; 0 if unknown."),
            column("name", Text, "Name."),
            column("spans", U64, "Number of spans."),
            nullable(
                "migrated",
                U64,
                "Spans that started on one CPU and ended on another; null if the recording lacks CPUs.",
            ),
            column("work_ns", I64, "Work, ns."),
            nullable("wait_ns", I64, "Barrier wait, ns; null without operator ends."),
            column("prefill_work_ns", I64, "Work in prefill calls, ns."),
            nullable("prefill_wait_ns", I64, "Barrier wait in prefill calls, ns."),
            column("decode_work_ns", I64, "Work in decode calls, ns."),
            nullable("decode_wait_ns", I64, "Barrier wait in decode calls, ns."),
            column("batch_decode_work_ns", I64, "Work in batch decode calls, ns."),
            nullable("batch_decode_wait_ns", I64, "Barrier wait in batch decode calls, ns."),
        ],
    },
];
