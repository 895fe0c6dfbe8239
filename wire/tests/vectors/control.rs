//! The examples of requests by a host.

use profinfer_wire::record::direct::{Probes, ProbesRequest};
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};
use profinfer_wire::record::{Record, control};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    check(
        "plan",
        &Record::Plan(control::Plan { wire_version: 1, board: "rk3588", levels: 7, target: "llama*" }),
    );
    let request = control::CounterRequest { name: "L3D_CACHE_REFILL", event: 0x2a, midr: 0x4100_d0b0 };
    check("counter request", &Record::CounterRequest(request));
    let path = "/sys/class/thermal/thermal_zone*/temp";
    let request = control::GaugeRequest {
        name: "temperature",
        kind: GaugeKind::Temperature,
        unit: GaugeUnit::Millidegrees,
        source: control::GaugeSource::File { path, parse: GaugeParse::Integer },
        period_ms: 100,
    };
    check("gauge request", &Record::GaugeRequest(request));
    let request = control::GaugeRequest {
        name: "memory traffic",
        kind: GaugeKind::Ddr,
        unit: GaugeUnit::Bytes,
        source: control::GaugeSource::Pmu { pmu: "rockchip_ddr", event: "read-bytes" },
        period_ms: 100,
    };
    check("gauge request of a PMU", &Record::GaugeRequest(request));
    let request = control::BenchRequest { cpus: "4-7", threads: "1,2,4", budget_ms: 12_000 };
    check("bench request", &Record::BenchRequest(request));
    check("probes request", &Record::ProbesRequest(ProbesRequest { probes: Probes::Direct }));
    let nonce = core::array::from_fn(|i| i as u8);
    check("resume", &Record::Resume(control::Resume { nonce, seq: 300 }));
    check("start", &Record::Start(control::Start {}));
    check("stop", &Record::Stop(control::Stop {}));
    check("refused", &Record::Refused(control::Refused { reason: "no" }));
    let (tried, answer, help) = ("loading BPF", "EPERM", "run as root");
    check("refused 2", &Record::Refused2(control::Refused2 { tried, answer, help }));
}
