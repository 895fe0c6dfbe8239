//! Clocks of CPUs and memory, and heat. A token takes 450 ns.

use profinfer_analysis::findings::{Remedy, Requirement, Value};
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{PROCESS, answer, evidence, number, remedy, text};
use crate::models::planted::{Plant, TOKENS, each, tokens};

/// Highest clock of both CPUs, and the governor's limit, MHz.
fn limited(limit: u64) -> Model {
    let mut m = tokens(0, 0, 0, false);
    for cpu in [0, 1] {
        number(&mut m, FactScope::Cpu(cpu), "cpu.frequency.max", 2_000_000_000);
        number(&mut m, FactScope::Cpu(cpu), "cpu.frequency.limit", limit * 1_000_000);
    }
    text(&mut m, FactScope::Cpu(0), "cpu.governor", "powersave");
    m
}

/// A sensor with a value at each token.
fn gauge(m: &mut Model, kind: GaugeKind, value: impl Fn(u64) -> i64) {
    m.gauges.push(Gauge {
        name: "sensor".to_owned(),
        kind,
        unit: GaugeUnit::Hertz,
        source: "/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq".to_owned(),
        period_ns: 100,
        attached: true,
        note: String::new(),
        at_ns: m.llama_calls.start_ns.clone(),
        values: (0..TOKENS).map(|i| Some(value(i))).collect(),
    });
}

#[test]
fn a_limit_of_the_clock() {
    // Half of the clock: at most half of the token.
    let m = limited(1_000);
    assert_eq!(answer(&m, "clock_limit"), Found(0, 225));
    assert_eq!(remedy(&m, "clock_limit"), Remedy::Clock { hertz: 2_000_000_000 });
    let said = ["clock_limit", "highest_clock", "governor"].map(|key| evidence(&m, "clock_limit", key));
    let name = Value::Name("powersave".to_owned());
    assert_eq!(said, [Value::Hertz(1_000_000_000), Value::Hertz(2_000_000_000), name].map(Some));
    assert_eq!(evidence(&m, "clock_limit", "uclamp_max"), None);
    let mut clamped = m;
    number(&mut clamped, PROCESS, "cgroup.uclamp_max", 2_500);
    assert_eq!(evidence(&clamped, "clock_limit", "uclamp_max"), Some(Value::Share(0.25)));
    assert_eq!([1_880, 1_920].map(|limit| answer(&limited(limit), "clock_limit")), [Found(0, 27), RuledOut]);
    let fact = Requirement::Fact("cpu.frequency.max");
    assert_eq!(answer(&tokens(0, 0, 0, false), "clock_limit"), NotKnown(vec![fact]));
}

#[test]
fn a_clock_that_stays_below_its_limit() {
    let mut m = limited(2_000);
    gauge(&mut m, GaugeKind::Frequency, |_| 1_800_000_000);
    assert_eq!(answer(&m, "clock_limit"), Found(0, 45));
    assert_eq!(evidence(&m, "clock_limit", "clock_in_decode"), Some(Value::Hertz(1_800_000_000)));
}

/// Thirteen tokens are a third; the clock falls in the last third.
fn hot(slower_ns: u64, clock: i64, millidegrees: i64) -> Model {
    let last = |token| token >= TOKENS - 13;
    let mut m = each(|token| Plant { work: if last(token) { slower_ns } else { 0 }, ..Plant::default() });
    gauge(&mut m, GaugeKind::Frequency, |token| if last(token) { clock } else { 2_000 });
    gauge(&mut m, GaugeKind::Temperature, |token| if last(token) { millidegrees } else { 60_000 });
    m
}

#[test]
fn heat_lowers_the_clock_and_tokens_take_longer() {
    let m = hot(200, 1_500, 85_000);
    // The mean token of 39 takes 516 instead of 450 ns; 7.8 % of both are 35.
    assert_eq!(answer(&m, "heat"), Found(31, 101));
    assert_eq!(evidence(&m, "heat", "time_ns_at_first"), Some(Value::Nanoseconds(450)));
    assert_eq!(evidence(&m, "heat", "time_ns_at_last"), Some(Value::Nanoseconds(650)));
    assert_eq!(evidence(&m, "heat", "clock_at_last"), Some(Value::Hertz(1_500)));
    assert_eq!(evidence(&m, "heat", "temperature_at_last"), Some(Value::Millidegrees(85_000)));
    // The clock is stable, the board is cooler, or tokens are as fast.
    let others = [hot(200, 1_950, 85_000), hot(200, 1_500, 55_000), hot(5, 1_500, 85_000)];
    assert_eq!(others.map(|m| answer(&m, "heat")), [RuledOut, RuledOut, RuledOut]);
    let missing = [Requirement::Gauge("frequency"), Requirement::Gauge("temperature")];
    assert_eq!(answer(&tokens(0, 0, 0, false), "heat"), NotKnown(missing.to_vec()));
}

#[test]
fn the_memorys_clock() {
    let with = |clock: u64, highest: Option<u64>| {
        let mut m = tokens(0, 0, 0, false);
        number(&mut m, FactScope::System, "ddr.frequency", clock);
        if let Some(highest) = highest {
            number(&mut m, FactScope::System, "ddr.frequency.max", highest);
        }
        text(&mut m, FactScope::System, "ddr.governor", "simple_ondemand");
        m
    };
    // Half of the clock: at most half of the token.
    let m = with(528_000_000, Some(1_056_000_000));
    assert_eq!(answer(&m, "memory_clock"), Found(0, 225));
    assert_eq!(remedy(&m, "memory_clock"), Remedy::MemoryClock { hertz: 1_056_000_000 });
    assert_eq!(evidence(&m, "memory_clock", "memory_clock"), Some(Value::Hertz(528_000_000)));
    assert_eq!(answer(&with(1_000_000_000, Some(1_056_000_000)), "memory_clock"), RuledOut);
    let missing = |m: &Model| answer(m, "memory_clock");
    assert_eq!(missing(&with(5, None)), NotKnown(vec![Requirement::Fact("ddr.frequency.max")]));
    assert_eq!(missing(&tokens(0, 0, 0, false)), NotKnown(vec![Requirement::Fact("ddr.frequency")]));
}

#[test]
fn banks_of_a_pi() {
    let with = |board: &str, nodes: u64| {
        let mut m = tokens(0, 0, 0, false);
        m.session.board = board.to_owned();
        number(&mut m, FactScope::System, "numa.nodes", nodes);
        text(&mut m, FactScope::System, "kernel.cmdline", "quiet numa=fake=8");
        m
    };
    let m = with("rpi5", 1);
    assert_eq!(answer(&m, "fake_numa"), Found(0, 0));
    assert_eq!(evidence(&m, "fake_numa", "numa_nodes"), Some(Value::Count(1)));
    assert_eq!(evidence(&m, "fake_numa", "kernel_option"), Some(Value::Name("numa=fake=8".to_owned())));
    assert_eq!([with("rpi5", 8), with("rk3588", 1)].map(|m| answer(&m, "fake_numa")), [RuledOut, Silent]);
    let mut chip = with("", 1);
    chip.session.cpu_model = "Broadcom BCM2712".to_owned();
    assert_eq!(answer(&chip, "fake_numa"), Found(0, 0));
}
