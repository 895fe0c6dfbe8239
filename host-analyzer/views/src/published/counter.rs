//! `counters`: hardware and software counters.

use super::Publish;
use profinfer_analysis::counter;
use profinfer_schema as schema;
use profinfer_trace::model::Absence;

fields! {
    counter::Counted => Counted { phase, op, desc, pmu, spans, work_ns, switches, absent, values }
    counter::Value => CounterSum { name, sum, spans, work_ns }
}

impl Publish for counter::Absent {
    type Form = schema::AbsentCounts;

    fn publish(&self) -> Self::Form {
        let mut absent = schema::AbsentCounts { unread: 0, mixed: 0, multiplexed: 0, torn: 0 };
        for (reason, spans) in self.iter() {
            *match reason {
                Absence::Unread => &mut absent.unread,
                Absence::Mixed => &mut absent.mixed,
                Absence::Multiplexed => &mut absent.multiplexed,
                Absence::Torn => &mut absent.torn,
            } = spans;
        }
        absent
    }
}
