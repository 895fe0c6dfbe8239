//! The examples of capture options, filters, switches and the controller.

use profinfer_wire::record::Record;
use profinfer_wire::record::capture::{ALWAYS, CaptureLoss, CaptureOptions, CaptureRequest, Ends, Refusal};
use profinfer_wire::record::controller::{ControllerLimit, ControllerStep, Slowdown, StepReason};
use profinfer_wire::record::duty::{ProbeSwitch, SwitchReason};
use profinfer_wire::record::filter::{Filter, FilterOn, FilterPlace, FilterRequest};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let options = CaptureOptions {
        at_ns: 2_000_000_000,
        duty_permille: 100,
        ends: Ends::Both,
        keep_above_milli: 5_000,
        max_slowdown_ppm: 0,
        duty_refused: None,
        ends_refused: Some(Refusal::Counters),
        keep_above_refused: None,
        max_slowdown_refused: None,
    };
    check("capture options", &Record::CaptureOptions(options));
    let filter =
        Filter { on: FilterOn::Name, text: "blk.*.ffn_*", place: FilterPlace::Kernel, refused: None };
    check("filter", &Record::Filter(filter));
    let refused = Filter {
        on: FilterOn::Request,
        text: "3-5",
        place: FilterPlace::Nowhere,
        refused: Some(Refusal::Unseen),
    };
    check("filter that was refused", &Record::Filter(refused));
    let switch = ProbeSwitch {
        pid: 42,
        on: true,
        reason: SwitchReason::Duty,
        began_ns: 3_000_000_000,
        done_ns: 3_000_450_000,
        probes: 3,
        pause_ns: None,
    };
    check("probe switch", &Record::ProbeSwitch(switch));
    let step = ControllerStep {
        at_ns: 4_000_000_000,
        pid: 42,
        limit: ControllerLimit::KeepAbove(5_000),
        reason: StepReason::TooSlow,
        speed_milli: Some(4_210),
        slowdown: None,
        before_permille: ALWAYS,
        after_permille: 500,
    };
    check("controller step", &Record::ControllerStep(step));
    let step = ControllerStep {
        limit: ControllerLimit::MaxSlowdown(10_000),
        reason: StepReason::TooDear,
        slowdown: Some(Slowdown { low_ppm: 13_000, ppm: 17_000, high_ppm: 21_000 }),
        before_permille: 200,
        after_permille: 100,
        ..step
    };
    check("controller step for a slowdown", &Record::ControllerStep(step));
    let loss = CaptureLoss {
        at_ns: 5_000_000_000,
        spans_filtered: 700,
        spans_gated: 12,
        starts_gated: 1,
        tokens_traced: 30,
        tokens_untraced: 268,
        tokens_edge: 2,
        switches: 6,
        switch_ns: 48_000_000,
    };
    check("capture loss", &Record::CaptureLoss(loss));
    let request = CaptureRequest {
        duty_permille: 100,
        ends: Ends::None,
        keep_above_milli: 5_000,
        max_slowdown_ppm: 10_000,
    };
    check("capture request", &Record::CaptureRequest(request));
    let request = FilterRequest { on: FilterOn::Layer, text: "0-3,10" };
    check("filter request", &Record::FilterRequest(request));
}
