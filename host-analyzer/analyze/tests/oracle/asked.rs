//! Requests of a host beyond the limits (docs/security.md), over a real link: the agent refuses
//! them with the reason, starts no engine and continues to wait. It serves the next host.

use std::io::{Read, Write};
use std::net::TcpStream;

use profinfer_wire::WIRE_VERSION;
use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::MAX_ENCODED;
use profinfer_wire::hello::HELLO_LEN;
use profinfer_wire::record::Record;
use profinfer_wire::record::control::{ANY_CORE, CounterRequest, Plan, Start};

use crate::engine_list::parse;
use crate::links::{Served, capture};
use crate::nodes::check_trace;
use crate::support::parts;

fn stream(records: &[Record<'_>]) -> Vec<u8> {
    let mut stream = Vec::new();
    for record in records {
        stream.extend_from_slice(record.encode_frame(0, &mut [0; MAX_ENCODED]).unwrap());
    }
    stream
}

/// The reason of the agent.
fn refusal(port: u16, asked: &[Record<'_>]) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.write_all(&stream(asked)).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    let (mut rest, mut accumulator) = (&answer[HELLO_LEN.min(answer.len())..], Accumulator::new());
    while !rest.is_empty() {
        if let Some(Found::Frame(frame)) = accumulator.feed(&mut rest)
            && let Record::Refused2(refused) = Record::decode(&frame).unwrap()
        {
            return format!("{}: {}", refused.tried, refused.answer);
        }
    }
    panic!("no refusal in {} bytes", answer.len());
}

#[test]
fn a_plan_beyond_the_limits_is_refused_and_the_next_host_is_served() {
    let Some(parts) = parts() else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(mut served) =
        Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &["-n", "3", "-t", "2", "--list"])
    else {
        return;
    };
    let port = served.port();
    let plan = |target| Record::Plan(Plan { wire_version: WIRE_VERSION, board: "", levels: 7, target });
    let counter = Record::CounterRequest(CounterRequest { name: "minor-faults", event: 0, midr: ANY_CORE });
    let long = "x".repeat(101);
    for (asked, word) in [
        ([vec![plan("")], vec![counter; 65], vec![Record::Start(Start {})]].concat(), "64"),
        (vec![plan(&long), Record::Start(Start {})], "100"),
        (vec![plan("../../bin/sh"), Record::Start(Start {})], "characters"),
    ] {
        let reason = refusal(port, &asked);
        assert!(reason.contains(word), "{reason}");
        assert!(served.agent.try_wait().unwrap().is_none(), "it waits for the next host");
    }
    let (trace, _) = capture(&format!("tcp:127.0.0.1:{port}"), dir.path(), &[]);
    served.agent.wait().unwrap();
    check_trace(&trace, &parse(&served.list()), "after three refusals");
}
