//! `work.modules` and `work.layers`: parts of the model.

use super::Publish;
use profinfer_analysis::module;
use profinfer_schema as schema;

fields! {
    // Sums of a layer; sums of modules have one more field.
    module::Sum => LayerSum {
        phase, layer, executions, wall_ns, work_ns, wait_ns, read_bytes, weight_bytes, written_bytes,
        operations, accuracy, share,
    } - { module }
}

names! {
    module::Module => Module { Embedding, Attention, Recurrent, Ffn, Router, Experts, Norm, Head, Other }
}

/// Sums of modules.
pub(super) fn modules(sums: &[module::Sum]) -> Vec<schema::ModuleSum> {
    let published = |sum: &module::Sum| {
        let schema::LayerSum {
            phase,
            layer,
            executions,
            wall_ns,
            work_ns,
            wait_ns,
            read_bytes,
            weight_bytes,
            written_bytes,
            operations,
            accuracy,
            share,
        } = sum.publish();
        Some(schema::ModuleSum {
            phase,
            module: sum.module?.publish(),
            layer,
            executions,
            wall_ns,
            work_ns,
            wait_ns,
            read_bytes,
            weight_bytes,
            written_bytes,
            operations,
            accuracy,
            share,
        })
    };
    sums.iter().filter_map(published).collect()
}
