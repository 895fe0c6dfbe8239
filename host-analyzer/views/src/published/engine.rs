//! `engines`: the engine in each process.

use super::Publish;
use profinfer_analysis::engine;

fields! {
    engine::Engine => Engine { pid, name, version, cpu_backend, cpu_variant, cpu_library }
}

names! {
    engine::CpuBackend => CpuBackend { Variant, Library, BuiltIn }
}
