//! `weights`: the memory that holds the weights.

use super::Publish;
use profinfer_analysis::weight;
use profinfer_trace::model;

fields! {
    weight::Weights => Weights {
        pid, context, tensors, bytes, mapped_bytes, own_bytes, device_bytes, unknown_bytes, buffers,
    }
    weight::Buffer => WeightBuffer { buffer, memory, path, tensors, bytes }
}

names! {
    model::Memory => Memory { File, Anonymous, Device, Unknown }
}
