//! Facts, in order of time.

use profinfer_wire::record::fact as wire;

use crate::model::{Fact, FactScope, FactValue, Facts, Model, Texts};

pub(super) fn fact(facts: &mut Facts, texts: &mut Texts, r: &wire::Fact<'_>) {
    let value = match r.value {
        wire::FactValue::Number(number) => FactValue::Number(number),
        wire::FactValue::Text(text) => FactValue::Text(texts.intern(text)),
        wire::FactValue::Absent(why) => FactValue::Absent(texts.intern(why)),
    };
    facts.rows.push(Fact { at_ns: r.at_ns, scope: r.scope.into(), name: texts.intern(r.name), value });
}

/// The agent waits for its engine. It sends this fact as soon as it has dropped its privileges.
pub(super) fn agent_is_ready(model: &Model) -> bool {
    let name = model.texts.find("agent.no_new_privileges");
    name.is_some_and(|name| model.facts.latest(FactScope::System, name).is_some())
}

/// Sorts by time; at the same time, by arrival.
pub(super) fn finish(facts: &mut Facts) {
    facts.rows.sort_by_key(|fact| fact.at_ns);
}
