//! The capture's options and filters. A record that comes again replaces the earlier one.

use profinfer_wire::record::capture as wire;
use profinfer_wire::record::filter as wire_filter;

use crate::model::{Capture, CaptureOption, Ends, Filter, FilterOn, FilterPlace, Refusal};

pub(super) fn options(capture: &mut Capture, r: &wire::CaptureOptions) {
    capture.duty_permille = r.duty_permille.min(wire::ALWAYS);
    capture.ends = match r.ends {
        wire::Ends::Both => Ends::Both,
        wire::Ends::None => Ends::None,
    };
    capture.keep_above_milli = (r.keep_above_milli > 0).then_some(r.keep_above_milli);
    capture.max_slowdown_ppm = (r.max_slowdown_ppm > 0).then_some(r.max_slowdown_ppm);
    let all = [
        (CaptureOption::Duty, r.duty_refused),
        (CaptureOption::Ends, r.ends_refused),
        (CaptureOption::KeepAbove, r.keep_above_refused),
        (CaptureOption::MaxSlowdown, r.max_slowdown_refused),
    ];
    capture.refused = all.into_iter().filter_map(|(option, why)| Some((option, refusal(why?)))).collect();
}

pub(super) fn filter(capture: &mut Capture, r: &wire_filter::Filter<'_>) {
    let on = match r.on {
        wire_filter::FilterOn::Op => FilterOn::Op,
        wire_filter::FilterOn::Name => FilterOn::Name,
        wire_filter::FilterOn::Layer => FilterOn::Layer,
        wire_filter::FilterOn::Thread => FilterOn::Thread,
        wire_filter::FilterOn::Token => FilterOn::Token,
        wire_filter::FilterOn::Request => FilterOn::Request,
    };
    let place = match r.place {
        wire_filter::FilterPlace::Trap => FilterPlace::Trap,
        wire_filter::FilterPlace::Kernel => FilterPlace::Kernel,
        wire_filter::FilterPlace::Agent => FilterPlace::Agent,
        wire_filter::FilterPlace::Nowhere => FilterPlace::Nowhere,
    };
    let filter = Filter { on, text: r.text.to_owned(), place, refused: r.refused.map(refusal) };
    match capture.filters.iter_mut().find(|f| f.on == on) {
        Some(old) => *old = filter,
        None => capture.filters.push(filter),
    }
}

const fn refusal(r: wire::Refusal) -> Refusal {
    match r {
        wire::Refusal::NoOperators => Refusal::NoOperators,
        wire::Refusal::NoTokenCalls => Refusal::NoTokenCalls,
        wire::Refusal::NotCallSites => Refusal::NotCallSites,
        wire::Refusal::Counters => Refusal::Counters,
        wire::Refusal::Excluded => Refusal::Excluded,
        wire::Refusal::TooMuch => Refusal::TooMuch,
        wire::Refusal::Unseen => Refusal::Unseen,
        wire::Refusal::Kernel => Refusal::Kernel,
        wire::Refusal::Unreadable => Refusal::Unreadable,
    }
}
