//! The columns of the Parquet tables. The CSV files have the same.

/// A table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Name of its file without the end.
    pub name: &'static str,
    /// What a row is.
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
    /// A value may be null.
    pub nullable: bool,
    /// What it holds.
    pub doc: &'static str,
}

/// Type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// 16 bits without a sign.
    U16,
    /// 32 bits without a sign.
    U32,
    /// 64 bits without a sign.
    U64,
    /// 32 bits with a sign.
    I32,
    /// 64 bits with a sign: times, so that differences do not wrap.
    I64,
    /// True or false.
    Bool,
    /// UTF-8, plain or in a dictionary.
    Text,
}

impl ColumnKind {
    /// Its name, as Arrow has it.
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
        doc: "One row per span: one operator on one thread. If something was counted, `switches` (uint32) \
              and a column for each counter (uint64 or null), named after its event, follow.",
        columns: &[
            nullable("call", U32, "Row in `tokens`; null if no token call was around."),
            column("graph_call", U32, "Number of the graph call."),
            column("phase", Text, "Phase of the token call."),
            column("backend", Text, "Backend that computed it."),
            column("pid", U32, "Process."),
            column("tid", U32, "Thread."),
            column("node", U32, "Index in the topology of the graph call."),
            column("last_node", U32, "Index of the last node that the same kernel computed too."),
            column("name", Text, "Tensor name."),
            column("op", Text, "Operator."),
            column("desc", Text, "Operator as the engine describes it."),
            column("dtype", Text, "Element type."),
            column("ne0", U64, "Elements in the first dimension."),
            column("ne1", U64, "In the second."),
            column("ne2", U64, "In the third."),
            column("ne3", U64, "In the fourth."),
            column("start_ns", I64, "Start, ns from the start of the session."),
            column("work_ns", I64, "Work, ns."),
            nullable("wait_ns", I64, "Wait at the barrier, ns; null if its end was not seen."),
            nullable("cpu", U16, "CPU on which it ended; null where the recording does not tell it."),
            nullable("migrated", Bool, "It began on another CPU; null likewise."),
            column(
                "read_bytes",
                U64,
                "Bytes that the execution read: the same in the rows of all its threads.",
            ),
            column("written_bytes", U64, "Bytes that it wrote, likewise."),
            column("operations", U64, "Operations that it did, likewise."),
        ],
    },
    Table {
        name: "tokens",
        doc: "One row per token call.",
        columns: &[
            column("id", U32, "Row, from 0."),
            column("phase", Text, "Phase."),
            column("function", Text, "Function."),
            nullable("context", Text, "Address of the context in hex."),
            column("thread", U32, "Thread."),
            column("start_ns", I64, "Entry, ns from the start of the session."),
            column("duration_ns", I64, "Length, ns."),
            nullable("n_tokens", U32, "Tokens in the batch."),
            nullable("n_past", U32, "Position of the batch's first token."),
            nullable("n_kv", I64, "Cells of the KV cache over which the last graph's attention goes."),
            nullable("graph_ns", I64, "Time in graph calls, ns."),
            nullable("op_wall_ns", I64, "Operator wall time, summed over executions, ns."),
            column("status", I32, "Returned value; 0 is success."),
            column("traced", Text, "What is known of its operators: `whole`, `untraced` or `edge`."),
        ],
    },
    Table {
        name: "experts",
        doc: "One row per expert that a router selected for a token. Without routers the table has no rows.",
        columns: &[
            nullable("call", U32, "Row in `tokens`; null if no token call was around."),
            column("graph_call", U32, "Number of the graph call."),
            column("phase", Text, "Phase of the token call."),
            column("pid", U32, "Process."),
            nullable("layer", U32, "Layer, from the name."),
            column("node", U32, "Index of the first `MUL_MAT_ID` that works by the selection."),
            column("name", Text, "Its name."),
            column("token", U32, "Token in the batch, from 0."),
            column("rank", U32, "Place in the router's order, from 0."),
            column("expert", U32, "The expert."),
        ],
    },
    Table {
        name: "threads",
        doc: "One row per thread: `threads` of summary.json.",
        columns: &[
            column("tid", U32, "Thread."),
            column("pid", U32, "Process; 0 if unknown."),
            column("name", Text, "Name."),
            column("spans", U64, "Spans."),
            nullable("migrated", U64, "Spans that began on another CPU than they ended on."),
            column("work_ns", I64, "Work, ns."),
            nullable("wait_ns", I64, "Wait at the barrier, ns."),
            column("prefill_work_ns", I64, "Work in prefill calls, ns."),
            nullable("prefill_wait_ns", I64, "Wait in prefill calls, ns."),
            column("decode_work_ns", I64, "Work in decode calls, ns."),
            nullable("decode_wait_ns", I64, "Wait in decode calls, ns."),
            column("batch_decode_work_ns", I64, "Work in batch decode calls, ns."),
            nullable("batch_decode_wait_ns", I64, "Wait in batch decode calls, ns."),
        ],
    },
];
