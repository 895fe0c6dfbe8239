//! Options and filters of the capture. A record that comes again replaces the earlier one.

use profinfer_wire::record::capture as wire;
use profinfer_wire::record::filter::Filter as WireFilter;

use crate::model::{Capture, CaptureOption, Filter};

pub(super) fn options(capture: &mut Capture, r: &wire::CaptureOptions) {
    capture.duty_permille = r.duty_permille.min(wire::ALWAYS);
    capture.ends = r.ends.into();
    capture.keep_above_milli = (r.keep_above_milli > 0).then_some(r.keep_above_milli);
    capture.max_slowdown_ppm = (r.max_slowdown_ppm > 0).then_some(r.max_slowdown_ppm);
    let all = [
        (CaptureOption::Duty, r.duty_refused),
        (CaptureOption::Ends, r.ends_refused),
        (CaptureOption::KeepAbove, r.keep_above_refused),
        (CaptureOption::MaxSlowdown, r.max_slowdown_refused),
    ];
    capture.refused = all.into_iter().filter_map(|(option, why)| Some((option, why?.into()))).collect();
}

pub(super) fn filter(capture: &mut Capture, r: &WireFilter<'_>) {
    let on = r.on.into();
    let (text, place, refused) = (r.text.to_owned(), r.place.into(), r.refused.map(Into::into));
    let filter = Filter { on, text, place, refused };
    match capture.filters.iter_mut().find(|f| f.on == on) {
        Some(old) => *old = filter,
        None => capture.filters.push(filter),
    }
}
