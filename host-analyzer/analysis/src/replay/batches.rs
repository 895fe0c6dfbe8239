//! Probes on the functions that fill a batch (`llama_batch_ext_*`): the engine passes some for each
//! token before a call, so a long prompt pays for thousands of them between two calls.

use super::CallReplay;
use crate::results::batch_probes;
use crate::results::fact::Conditions;
use profinfer_trace::model::Model;

/// Moves the time of these probes from the application's to that of the probes.
pub(super) fn assign<'a>(
    model: &Model,
    conditions: &Conditions,
    calls: impl Iterator<Item = &'a mut CallReplay>,
) {
    let n_tokens = &model.llama_calls.n_tokens;
    let tokens: u64 = n_tokens.iter().map(|n| u64::from(*n)).sum();
    let Some(ns) = batch_probes::ns(model, conditions).filter(|_| tokens > 0) else { return };
    let per_token = ns as f64 / tokens as f64;
    for call in calls {
        let probes = (f64::from(n_tokens[call.call.0 as usize]) * per_token) as u64;
        let probes = probes.min(call.application_ns);
        call.application_ns -= probes;
        call.usual.probes = call.usual.probes.saturating_add(probes);
    }
}
