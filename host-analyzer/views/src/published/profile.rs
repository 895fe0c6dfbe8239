//! `backends.profiles`: profiles of accelerators.

use super::Publish;
use profinfer_analysis::accelerator;
use profinfer_schema as schema;
use profinfer_trace::model::ProfileFormat;

fields! {
    accelerator::ProfileJoin => ProfileJoin {
        name, format, backend, kernels, device_ns, joined, grouped, unjoined, share, unjoined_kinds,
        operators, unread_fusions, lines, other_lines, damaged_lines, left_out_rows, open_blocks,
        span_ns, queued_ns,
    }
    accelerator::Part => KernelPart { kernels, device_ns }
    accelerator::Unjoined => Unjoined { text, why, kernels, device_ns }
    accelerator::Balance => Balance { op, executions, kernels, fused, without, beyond }
}

names! {
    accelerator::Why => UnjoinedWhy { NoBackend, NoNode } + { NotTold => NotRecorded }
}

impl Publish for ProfileFormat {
    type Form = schema::ProfileFormat;

    fn publish(&self) -> Self::Form {
        match self {
            Self::OpenClTable => schema::ProfileFormat::OpenclTable,
            Self::OpenClTrace => schema::ProfileFormat::OpenclTrace,
            Self::VulkanLog => schema::ProfileFormat::VulkanLog,
            Self::HexagonLog => schema::ProfileFormat::HexagonLog,
        }
    }
}
