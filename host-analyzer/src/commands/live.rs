//! Capturing from a serving agent: plan and start out, the stream in, kept as a recording.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use profinfer_boards::Board;
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::frame::{Frame, MAX_ENCODED, MAX_PAYLOAD, encode};
use profinfer_wire::record::Record as WireRecord;
use profinfer_wire::record::control::{CounterWish, Plan, Start, Stop, level};

use super::cli::Record;
use super::progress::Progress;
use super::{Diagnostic, Result, counters, write};
use crate::decode::Decoder;
use crate::ingest::Ingest;
use crate::model::Model;

/// How long the agent may take for its last words after a stop.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub(super) fn capture(address: &str, board: Option<&Board>, options: &Record) -> Result<Model> {
    let levels = levels(board, options)?;
    let counters = counters::wishes(board, &options.counters)?;
    write::folder(&options.out)?;
    let kept = options.out.join("recording.pfi");
    let unwritable = |e: std::io::Error| {
        Diagnostic::new(
            format!("writing {}", kept.display()),
            e,
            "free space, or choose another place with --out",
        )
    };
    let mut socket = connect(address, options.wait)?;
    let interrupts = interrupts()?;
    let mut host = HostFrames::default();
    let plan = Plan {
        wire_version: WIRE_VERSION,
        board: board.map_or("generic-aarch64", |b| b.name.as_str()),
        levels,
        target: options.target.as_deref().unwrap_or_default(),
    };
    host.send(&mut socket, &WireRecord::Plan(plan), address)?;
    for counter in &counters {
        let wish = CounterWish { name: &counter.name, event: counter.event, midr: counter.midr };
        host.send(&mut socket, &WireRecord::CounterWish(wish), address)?;
    }
    host.send(&mut socket, &WireRecord::Start(Start {}), address)?;
    let mut file = File::create(&kept).map_err(unwritable)?;

    let mut progress = Progress::new("capturing");
    let (mut decoder, mut ingest) = (Decoder::new(), Ingest::new());
    let mut bytes = vec![0; 1 << 18];
    let mut stopped: Option<Instant> = None;
    loop {
        let asked = interrupts.load(Ordering::Relaxed);
        if asked > 0 && stopped.is_none() {
            progress.say("stopping: waiting for the agent's last words (Ctrl-C again to leave at once)");
            host.send(&mut socket, &WireRecord::Stop(Stop {}), address)?;
            stopped = Some(Instant::now());
        }
        if asked > 1 || stopped.is_some_and(|s| s.elapsed() > LAST_WORDS) {
            break;
        }
        match socket.read(&mut bytes) {
            Ok(0) => break,
            Ok(n) => {
                file.write_all(&bytes[..n]).map_err(unwritable)?;
                decoder
                    .feed(&bytes[..n], &mut |found| ingest.found(&found))
                    .map_err(|e| Diagnostic::not_readable(&format!("the stream of tcp:{address}"), e))?;
            }
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            // A link that breaks cuts the stream short; what came before is analysed, and the cut is named.
            Err(_) => break,
        }
        let live = ingest.live();
        progress.live(&live);
        if live.ended || live.refused.is_some() {
            break;
        }
    }
    progress.done();
    decoder
        .finish(&mut |found| ingest.found(&found))
        .map_err(|e| Diagnostic::not_readable(&format!("the stream of tcp:{address}"), e))?;
    Ok(ingest.finish())
}

fn levels(board: Option<&Board>, options: &Record) -> Result<u32> {
    let names: Vec<&str> = match board {
        _ if !options.levels.is_empty() => options.levels.iter().map(String::as_str).collect(),
        Some(board) => board.levels.iter().map(String::as_str).collect(),
        None => vec!["token", "graph", "op"],
    };
    names.into_iter().try_fold(0, |bits, name| match name.trim() {
        "token" => Ok(bits | level::TOKEN),
        "graph" => Ok(bits | level::GRAPH),
        "op" | "operator" => Ok(bits | level::OP),
        other => Err(Diagnostic::new(
            "choosing the levels",
            format!("there is no level `{other}`"),
            "use --levels with token, graph, op, separated by commas",
        )),
    })
}

fn connect(address: &str, wait_seconds: u64) -> Result<TcpStream> {
    let begun = Instant::now();
    let mut progress = Progress::new("connecting");
    loop {
        match TcpStream::connect(address) {
            Ok(socket) => {
                progress.done();
                let ready = socket
                    .set_read_timeout(Some(Duration::from_millis(200)))
                    .and_then(|()| socket.set_nodelay(true));
                ready.map_err(|e| {
                    Diagnostic::new(format!("connecting to tcp:{address}"), e, "connect again")
                })?;
                return Ok(socket);
            }
            Err(e)
                if begun.elapsed() >= Duration::from_secs(wait_seconds)
                    || e.kind() == ErrorKind::InvalidInput =>
            {
                progress.done();
                return Err(Diagnostic::new(
                    format!("connecting to the agent at tcp:{address}"),
                    e,
                    "start `profinfer-agent serve` on the board and forward its port, for example \
                     `adb forward tcp:7817 tcp:7817` or `ssh -L 7817:127.0.0.1:7817 BOARD`",
                ));
            }
            Err(e) => {
                progress.say(&format!("tcp:{address}: {e}; trying again"));
                std::thread::sleep(Duration::from_millis(200));
            }
        }
    }
}

/// Frames to the agent.
#[derive(Default)]
struct HostFrames {
    seq: u32,
}

impl HostFrames {
    fn send(&mut self, socket: &mut TcpStream, record: &WireRecord<'_>, address: &str) -> Result<()> {
        let failed = |answer: &dyn std::fmt::Display| {
            Diagnostic::new(
                format!("asking the agent at tcp:{address}"),
                answer,
                "shorten --target, connect again",
            )
        };
        let (mut payload, mut frame) = ([0; MAX_PAYLOAD], [0; MAX_ENCODED]);
        let payload = record.encode(&mut payload).ok_or_else(|| failed(&"the request is too long"))?;
        let len = encode(&Frame { kind: record.kind(), seq: self.seq, payload }, &mut frame)
            .ok_or_else(|| failed(&"the request is too long"))?;
        self.seq += 1;
        socket.write_all(&frame[..len]).map_err(|e| failed(&e))
    }
}

/// Counts Ctrl-C.
fn interrupts() -> Result<&'static AtomicU32> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    ctrlc::set_handler(|| {
        COUNT.fetch_add(1, Ordering::Relaxed);
    })
    .map_err(|e| Diagnostic::new("listening for Ctrl-C", e, "run analyze from an ordinary terminal"))?;
    Ok(&COUNT)
}
