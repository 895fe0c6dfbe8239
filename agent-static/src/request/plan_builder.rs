//! Builds a plan from the records of a host, up to `Start`. The records are untrusted; unknown ones
//! are skipped.

use profinfer_wire::record::Record;

use crate::request::plan::{KEPT_REQUESTS, Plan};

#[derive(Debug, Default)]
pub struct PlanBuilder(Option<Plan>);

impl PlanBuilder {
    /// Takes one record. Returns the plan at `Start`, if a plan came before it. The plan is not yet
    /// verified against [`crate::request::limits`].
    pub fn take(&mut self, record: &Record<'_>) -> Option<Plan> {
        if let Record::Plan(p) = record {
            self.0 = Some(Plan::from(*p));
        } else if let Record::Start(_) = record {
            return self.0.take();
        } else if let Some(plan) = self.0.as_mut() {
            apply(plan, record);
        }
        None
    }
}

fn apply(plan: &mut Plan, record: &Record<'_>) {
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
