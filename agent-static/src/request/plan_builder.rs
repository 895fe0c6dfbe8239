//! A plan as it comes from a host: record by record, until `Start`. Foreign bytes; what is no mode is skipped.

use profinfer_wire::record::Record;

use crate::request::plan::{KEPT_REQUESTS, Plan};

/// What came so far.
#[derive(Debug, Default)]
pub struct PlanBuilder(Option<Plan>);

impl PlanBuilder {
    /// Takes one record: the whole plan, when it is `Start` and a plan came before it. It has not been held against
    /// [`crate::request::limits`]'s limits yet.
    pub fn take(&mut self, record: &Record<'_>) -> Option<Plan> {
        if let Record::Plan(p) = record {
            self.0 = Some(Plan::from(*p));
        } else if let Record::Start(_) = record {
            return self.0.take();
        } else if let Some(plan) = self.0.as_mut() {
            mode(plan, record);
        }
        None
    }
}

fn mode(plan: &mut Plan, record: &Record<'_>) {
    match record {
        Record::CounterRequest(w) if plan.counters.len() < KEPT_REQUESTS => plan.counters.push((*w).into()),
        Record::GaugeRequest(w) if plan.gauges.len() < KEPT_REQUESTS => plan.gauges.push((*w).into()),
        Record::BenchRequest(w) => plan.bench = Some((*w).into()),
        Record::ProbesRequest(w) => plan.probes = w.probes,
        Record::CaptureRequest(w) => plan.capture.request(w),
        Record::FilterRequest(w) => plan.capture.filter(w.on, w.text),
        _ => {}
    }
}
