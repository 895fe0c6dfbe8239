//! Records of older agents that current agents no longer send.

use profinfer_trace::model::{LibraryRole, Model};

use crate::read;
use profinfer_trace::test_support::bytes::{frame, hello};
use profinfer_trace::test_support::records::{self, Record};

fn model(records: &[Record]) -> Model {
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(records) {
        bytes.extend(frame(*kind, seq, payload));
    }
    read(&bytes, usize::MAX).unwrap()
}

fn roles(library: Record) -> Vec<LibraryRole> {
    let model = model(&[library]);
    assert_eq!(model.health.damage, []);
    model.session.libraries.into_iter().next().unwrap().roles
}

#[test]
fn roles_in_words_are_those_in_bits() {
    for (bits, words) in [
        (0, ""),
        (1, "token"),
        (2 + 32, "graph, names and layout"),
        (4 + 8, "CPU graph, CPU operators"),
        (16, "functions of backends"),
        (63, "token, graph, CPU graph, CPU operators, functions of backends, names and layout"),
        // Roles that this build does not know.
        (1, "token, GPU graph"),
        (1 << 31, "GPU graph"),
    ] {
        let expected = roles(records::library(7, bits));
        assert_eq!(expected.len(), (bits & 63).count_ones() as usize, "{bits}");
        assert_eq!(roles(records::library_of_words(7, words)), expected, "{words}");
    }
}

#[test]
fn only_the_cpus_roles_are_a_cpu_backend() {
    let has = |bits| model(&[records::library(7, bits)]).session.libraries[0].has_cpu_backend();
    assert_eq!([1, 2, 4, 8, 16, 32].map(has), [false, false, true, true, false, false]);
}

#[test]
fn a_refusal_in_one_text_is_the_answer() {
    let parts = |record| {
        let refused = model(&[record]).health.refused.unwrap();
        (refused.tried, refused.answer, refused.help)
    };
    let text = "loading: no BPF\n  help: run as root";
    assert_eq!(parts(records::refused_in_one(text)), (String::new(), text.into(), String::new()));
    let expected = ("loading".into(), "no BPF".into(), "run as root".into());
    assert_eq!(parts(records::refused("loading", "no BPF", "run as root")), expected);
}

#[test]
fn an_agent_without_a_process_record_is_unknown() {
    assert_eq!(model(&[records::session(5)]).session.agent_pid, None);
    assert_eq!(model(&[records::session(5), records::agent(300)]).session.agent_pid, Some(300));
}
