//! The examples of facts and ceilings.

use profinfer_wire::record::Record;
use profinfer_wire::record::ceiling::{Ceiling, CeilingKind, CeilingLoad, CeilingPoint, CurveEnd, doubt};
use profinfer_wire::record::fact::{Fact, FactScope, FactValue};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let fact = |scope, name, value| Record::Fact(Fact { at_ns: 2_500_000_000, scope, name, value });
    let (system, process) = (FactScope::System, FactScope::Process(42));
    check("fact of the system", &fact(system, "memory.available", FactValue::Number(6_442_450_944)));
    check("fact of a process", &fact(process, "env.OMP_WAIT_POLICY", FactValue::Text("passive")));
    check("fact of a thread", &fact(FactScope::Thread(43), "run_delay_ns", FactValue::Number(1_300)));
    check("fact of a CPU", &fact(FactScope::Cpu(4), "cpu.governor", FactValue::Absent("no cpufreq")));
    let ceiling = Ceiling {
        kind: CeilingKind::Read,
        core: "Cortex-A76",
        cpus: "4-5",
        how: "ldp q",
        repeats: 7,
        median: 18_400_000_000,
        min: 18_100_000_000,
        max: 18_600_000_000,
        note: "",
    };
    check("ceiling", &Record::Ceiling(ceiling));
    let unmeasured = Ceiling {
        kind: CeilingKind::WakeUp,
        core: "",
        cpus: "0-3,6",
        how: "futex",
        repeats: 0,
        median: 0,
        min: 0,
        max: 0,
        note: "interrupted",
    };
    check("ceiling that was not measured", &Record::Ceiling(unmeasured));
    let point = CeilingPoint {
        kind: CeilingKind::Read,
        core: "Cortex-A76",
        cpus: "4-5",
        how: "ldp q",
        working_set_bytes: 33_554_432,
        repeats: 7,
        median: 18_400_000_000,
        min: 18_100_000_000,
        max: 18_600_000_000,
        doubts: 0,
        end: CurveEnd::Cache,
    };
    check("ceiling point", &Record::CeilingPoint(point));
    let doubted = CeilingPoint {
        working_set_bytes: 262_144,
        doubts: doubt::UNSTABLE | doubt::ENGINE_RAN,
        end: CurveEnd::Open,
        ..point
    };
    check("ceiling point with doubts", &Record::CeilingPoint(doubted));
    let load = CeilingLoad {
        kind: CeilingKind::Read,
        cpus: "4-5",
        how: "ldp q",
        wall_ns: 480_000_000,
        others_ns: 470_000_000,
        pid: 4242,
        name: "python3",
        pid_ns: 460_000_000,
    };
    check("ceiling load", &Record::CeilingLoad(load));
}
