//! `compare.json`: things that runs may differ in.

use super::Publish;
use profinfer_analysis::compare;

names! {
    compare::Thing => Thing {
        Weights, Experts, Draft, Capture, ModelFile, EngineVersion, EngineBuild, CpuVariant, Command,
        Threads, Affinity, Environment, Quota, KvCache, Cells, Prompt, Operators, Backends, Buffers,
        Board, Cpu, Cpus, Kernel, Agent, Governor, ClockLimit, HugePages, Clock, Temperature, Ceiling,
        ProbeCost, Losses,
    }
    compare::Kind => ThingKind { Work } + { Environment => Environment }
}
