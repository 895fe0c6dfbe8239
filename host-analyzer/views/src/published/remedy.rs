//! `findings.found[].remedy`.

use super::Publish;
use profinfer_analysis::findings::Remedy;
use profinfer_schema as schema;

impl Publish for Remedy {
    type Form = schema::Remedy;

    fn publish(&self) -> Self::Form {
        use schema::Remedy as Published;
        match self {
            Self::Threads { threads } => Published::Threads { threads: *threads },
            Self::MoveTasks { tasks } => Published::MoveTasks { tasks: tasks.publish() },
            Self::KernelThreads { tasks } => Published::KernelThreads { tasks: tasks.publish() },
            Self::MoveNeighbours { tasks } => Published::MoveNeighbours { tasks: tasks.publish() },
            Self::Quota { cpus, threads } => Published::Quota { cpus: *cpus, threads: *threads },
            Self::Pin { threads, cpus } => Published::Pin { threads: *threads, cpus: cpus.publish() },
            Self::PinThreads => Published::PinThreads,
            Self::SpinAtBarriers => Published::SpinAtBarriers,
            Self::SleepWhenIdle => Published::SleepWhenIdle,
            Self::MoreMemory { bytes } => Published::MoreMemory { bytes: *bytes },
            Self::OneCopy { bytes } => Published::OneCopy { bytes: *bytes },
            Self::Clock { hertz } => Published::Clock { hertz: *hertz },
            Self::MemoryClock { hertz } => Published::MemoryClock { hertz: *hertz },
            Self::Cooling => Published::Cooling,
            Self::Sampling => Published::Sampling,
            Self::ShorterContext { cells, quantize } => {
                Published::ShorterContext { cells: *cells, quantize: *quantize }
            }
            Self::NoDraft => Published::NoDraft,
            Self::PinExperts => Published::PinExperts,
            Self::Requantize { group, from, to } => {
                Published::Requantize { group: (*group).to_owned(), from: from.publish(), to: to.publish() }
            }
            Self::RepackedType => Published::RepackedType,
            Self::SmallerWeights => Published::SmallerWeights,
            Self::BetterVariant => Published::BetterVariant,
            Self::FakeNuma => Published::FakeNuma,
            Self::HugePages => Published::HugePages,
            Self::OneBackend => Published::OneBackend,
            Self::CachePrompt => Published::CachePrompt,
            Self::KeepWindow => Published::KeepWindow,
            Self::KeepState => Published::KeepState,
            Self::TableInMemory => Published::TableInMemory,
            Self::FewerStateCopies => Published::FewerStateCopies,
            Self::WholePrompts => Published::WholePrompts,
            Self::SteadyShapes => Published::SteadyShapes,
            Self::NoStops => Published::NoStops,
            Self::NoIdleTeam => Published::NoIdleTeam,
            Self::LessApplicationWork => Published::LessApplicationWork,
            Self::ReservedCpus => Published::ReservedCpus,
            Self::MoveInterrupts => Published::MoveInterrupts,
            Self::FindSleep => Published::FindSleep,
            Self::WarmCache => Published::WarmCache,
            Self::KvType { types } => {
                Published::KvType { types: types.iter().map(|name| (*name).to_owned()).collect() }
            }
            Self::KeepConditions => Published::KeepConditions,
            Self::LargerBatches { tokens } => Published::LargerBatches { tokens: *tokens },
        }
    }
}
