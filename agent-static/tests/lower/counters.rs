//! Counter values of operators, and why they are absent.

use profinfer_agent::bpf::ring::{COUNTER_SLOTS, Counted, Event, Graph, Op};
use profinfer_agent::link::output::Weight;
use profinfer_trace::model::Model;
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::{Counter, why};

use crate::engine::chain;
use crate::run::{Run, TID, graph, head};

/// Two hardware counters and a software counter.
fn counted(missing: u16, why: u64) -> Model {
    let (mut run, topology) = (Run::new(), chain(0x1000, "n", 1));
    run.lower.counter_slots = (3, 2);
    for (slot, name) in [(0, "CPU_CYCLES"), (1, "INST_RETIRED"), (2, "minor-faults")] {
        let record = Counter { slot, name, event: 0, pmu: "", cpus: "0-3", attached: true, note: "" };
        run.lower.emit.emit(&Record::Counter(record), Weight::Essential);
    }
    run.topology(head(TID), 1, &topology);
    let start = graph(head(TID), 1000, 1);
    run.graph(start);
    let op = Op { head: head(TID), start_ns: 1010, end_ns: 1020, node: 0x1000, last: 0x1000, graph: 1000 };
    let mut counts = [u64::MAX; COUNTER_SLOTS];
    (counts[0], counts[1], counts[2]) = (1 << 40, 12, 3);
    let counted = Counted { switches: 5, missing, why: u16::try_from(why).unwrap(), counts };
    run.event(&Event::Op(op, Some(counted)));
    run.graph(Graph { end_ns: 1100, ..start });
    run.finish()
}

#[test]
fn counts_are_sent_with_the_span() {
    let model = counted(0, 0);
    assert_eq!(model.spans.counts.names, ["CPU_CYCLES", "INST_RETIRED", "minor-faults"]);
    let values = [0, 1, 2].map(|k| model.spans.counts.value(k, 0));
    assert_eq!(values, [Some(1 << 40), Some(12), Some(3)]);
    assert_eq!((model.spans.counts.switches[0], model.spans.counts.why[0]), (5, 0));
}

#[test]
fn unreadable_counts_are_absent() {
    let model = counted(0b10, 0);
    assert_eq!([0, 1, 2].map(|k| model.spans.counts.value(k, 0)), [Some(1 << 40), None, Some(3)]);
}

/// Hardware counters of a thread that moved or shared them are absent; its software counters stay
/// valid. If a part of the thread's time was missed, all are absent.
#[test]
fn the_reason_decides_which_counts_are_valid() {
    for (reason, software) in
        [(why::MIXED, Some(3)), (why::MULTIPLEXED, Some(3)), (why::UNREAD, None), (why::TORN, None)]
    {
        let model = counted(0, reason);
        assert_eq!([0, 1, 2].map(|k| model.spans.counts.value(k, 0)), [None, None, software], "{reason}");
        assert_eq!(u64::from(model.spans.counts.why[0]), reason);
    }
}
