//! The examples of `docs/wire-format.md` are the test vectors. Each is the encoding of the record
//! built here and decodes to that record. No prefix and no flipped bit of it decodes as another
//! record.
//!
//! `PROFINFER_BLESS=1 cargo test -p profinfer-wire` rewrites the examples; read the difference
//! before you commit it.
#![expect(clippy::expect_used, reason = "a test fails where it cannot go on")]
#![expect(clippy::indexing_slicing, reason = "likewise")]

mod control;
mod counter;
mod cpu_use;
mod duty;
mod ending;
mod expert;
mod fact;
mod gauge;
mod graph;
mod hello;
mod loss;
mod nested;
mod op;
mod part;
mod piece;
mod predicted;
mod sched;
mod session;
mod start_up;
mod weight;

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{Frame, MAX_ENCODED, MAX_PAYLOAD, decode, encode};
use profinfer_wire::record::Record;
use profinfer_wire::record::session::Text;

use hello::HELLO;

/// The document. The path is found at run time, since another clone may share the build cache.
fn document_path() -> std::path::PathBuf {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    std::path::Path::new(&root).join("../docs/wire-format.md")
}

/// All records, in the order of the document.
fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    session::with_records(check);
    start_up::with_records(check);
    graph::with_records(check);
    part::with_records(check);
    weight::with_records(check);
    op::with_records(check);
    predicted::with_records(check);
    counter::with_records(check);
    nested::with_records(check);
    expert::with_records(check);
    gauge::with_records(check);
    fact::with_records(check);
    sched::with_records(check);
    cpu_use::with_records(check);
    duty::with_records(check);
    piece::with_records(check);
    ending::with_records(check);
    loss::with_records(check);
    control::with_records(check);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The frame of a record as sent, with sequence number 7.
fn framed(record: &Record<'_>) -> Vec<u8> {
    record.encode_frame(7, &mut [0; MAX_ENCODED]).expect("fits").to_vec()
}

fn examples() -> String {
    let mut text = format!("hello: {}\n", hex(&HELLO.to_bytes()));
    with_records(&mut |name, record| {
        let mut payload = [0; MAX_PAYLOAD];
        let payload = record.encode(&mut payload).expect("fits");
        text += &format!("{name} {:#06x}: {}\n", record.kind(), hex(payload));
    });
    with_records(&mut |name, record| {
        if name == "thread" {
            text += &format!("frame of thread, sequence number 7: {}\n", hex(&framed(record)));
        }
    });
    text
}

#[test]
fn the_document_holds_the_encodings() {
    const BEGIN: &str = "```vectors\n";
    let document = std::fs::read_to_string(document_path()).expect("docs/wire-format.md");
    let (before, rest) = document.split_once(BEGIN).expect("a vectors block");
    let (block, after) = rest.split_once("```").expect("its end");
    let expected = examples();
    if std::env::var_os("PROFINFER_BLESS").is_some() {
        std::fs::write(document_path(), format!("{before}{BEGIN}{expected}```{after}")).expect("written");
        return;
    }
    assert_eq!(block, expected, "the wire changed: a published record never does; see the test's head");
}

/// Feeds the bytes, then a good frame. Checks the frames before it; returns whether it arrived.
fn feed(bytes: &[u8], good: &[u8], check: &mut dyn FnMut(&Frame<'_>)) -> bool {
    let mut accumulator = Accumulator::new();
    let mut all = bytes.to_vec();
    all.push(0);
    all.extend_from_slice(good);
    let mut input = all.as_slice();
    let mut arrived = false;
    let good_frame = {
        let mut chunk = good[..good.len() - 1].to_vec();
        decode(&mut chunk).map(|f| (f.kind, f.seq, f.payload.to_vec())).expect("good")
    };
    while !input.is_empty() {
        if let Some(Found::Frame(frame)) = accumulator.feed(&mut input) {
            if (frame.kind, frame.seq, frame.payload.to_vec()) == good_frame {
                arrived = true;
            } else {
                check(&frame);
            }
        }
    }
    arrived
}

#[test]
fn no_prefix_and_no_flipped_bit_is_taken_for_another_record() {
    let good = framed(&Record::Text(Text { id: 99, text: "good" }));
    with_records(&mut |name, record| {
        let bytes = framed(record);
        for cut in 0..bytes.len() - 1 {
            let arrived = feed(&bytes[..cut], &good, &mut |f| panic!("{name} cut at {cut} gave {f:?}"));
            assert!(arrived, "{name} cut at {cut}: the next frame");
        }
        for bit in 0..(bytes.len() - 1) * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let arrived = feed(&flipped, &good, &mut |f| panic!("{name} with bit {bit} flipped gave {f:?}"));
            assert!(arrived, "{name} with bit {bit} flipped: the next frame");
        }
        let mut complete = 0;
        feed(&bytes, &good, &mut |f| {
            assert_eq!(Record::decode(f).as_ref(), Ok(record));
            complete += 1;
        });
        assert_eq!(complete, 1, "{name}");
    });
}

#[test]
fn the_longest_frame_fits() {
    for byte in [0u8, 1, 255] {
        let payload = [byte; MAX_PAYLOAD];
        let mut out = [0; MAX_ENCODED];
        let frame = Frame { kind: 1, seq: 0, payload: &payload };
        let len = encode(&frame, &mut out).expect("fits");
        assert!(len <= MAX_ENCODED);
        let mut input = &out[..len];
        assert_eq!(Accumulator::new().feed(&mut input), Some(Found::Frame(frame)));
        assert!(encode(&Frame { payload: &[byte; MAX_PAYLOAD + 1], ..frame }, &mut out).is_none());
    }
}
