//! Captures from a serving agent: sends the plan and the start, receives the stream, and writes the
//! recording.

use std::time::{Duration, Instant};

use profinfer_boards::{Board, PlannedCounter, Seen};
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::frame::MAX_ENCODED;
use profinfer_wire::record::Record as WireRecord;
use profinfer_wire::record::control::{
    BenchRequest, CounterRequest, GaugeRequest, Plan, Resume, Start, Stop, level,
};
use profinfer_wire::record::direct::{Probes, ProbesRequest};
use serde::Serialize;

use crate::capture::link::{Address, Link, refusal};
use crate::capture::metrics::Metrics;
use crate::capture::observer::CaptureObserver;
use crate::capture::receive::{Next, Receiver};
use crate::capture::recording::Recording;
use crate::capture::rotate::Window;
use crate::capture::{counters, gauges, interrupts, operators};
use crate::cli::Record;
use crate::{Diagnostic, Result, foreign, write};
use profinfer_trace::model::Model;

/// Longest silence of the agent after a stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// A serial line does not report that the agent ended. The agent sends a heartbeat every second, so
/// after this time it is gone.
const SILENCE: Duration = Duration::from_secs(15);
/// After this time without a heartbeat, something is wrong with the link.
const QUIET: Duration = Duration::from_secs(5);
/// Time limit for the first answer at a port, as a multiple of `--wait`: the agent loads its programs before
/// it answers.
const ANSWER: u64 = 3;
/// On a serial line, `analyze` sends the request again if no hello arrives within this time,
/// because noise may have destroyed the request.
const ASK_AGAIN: Duration = Duration::from_secs(3);

/// The result of a capture.
pub(crate) struct Captured {
    /// `None` if the recording is in pieces or was watched: it is on disk.
    pub(crate) model: Option<Model>,
    /// Messages about the link.
    pub(crate) said: Vec<String>,
    pub(crate) link: LinkReport,
}

/// Why the end of a session is missing.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Lost {
    /// The link broke while the agent was stopping.
    WhileStopping,
    /// The link broke, and the session could not be resumed.
    NotResumed,
    /// The agent answered with another session.
    OtherSession,
    /// A serial line carried nothing more.
    Silent,
}

/// Disturbances of the link.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct LinkReport {
    /// How often a broken connection was resumed.
    reconnects: u64,
    /// Why the end of the session is missing; `None` if it was received.
    lost: Option<Lost>,
    /// Bytes that belong to no frame.
    noise_bytes: u64,
    /// Requests to send frames again.
    resend_requests: u64,
}

/// Captures. Call [`interrupts::count`] before. `window` keeps the last seconds for the observer.
pub(crate) fn capture(
    address: &Address,
    board: Option<&Board>,
    options: &Record,
    observer: &mut dyn CaptureObserver,
    window: Option<Window>,
) -> Result<Captured> {
    let levels = levels(board, options)?;
    let counters = counters::requests(board, &options.counters)?;
    let sampled = gauges::board(board)?;
    let gauges = gauges::requests(&sampled, options.sample_hz);
    write::folder(&options.out)?;
    let metrics = options.metrics.as_deref().map(Metrics::serve).transpose()?;
    let metered = metrics.as_ref().map(Metrics::totals);
    let link = address.connect_within(Duration::from_secs(options.wait), observer)?;
    let mut capture = Capture {
        address,
        board,
        options,
        link,
        request: request(board, levels, (&counters, &gauges), options, address)?,
        seq: 0,
        receiver: Receiver::new(address.is_serial(), Instant::now()),
        recording: Recording::create(&options.out, options, window, metered)?,
        report: LinkReport::default(),
    };
    observer.begin("capturing");
    let said = capture.run(observer)?;
    let (noise_bytes, resend_requests) = (capture.receiver.noise, capture.receiver.repairs);
    let link = LinkReport { noise_bytes, resend_requests, ..capture.report };
    Ok(Captured { model: capture.recording.finish(address)?, said, link })
}

struct Capture<'a> {
    address: &'a Address,
    board: Option<&'a Board>,
    options: &'a Record,
    link: Link,
    request: Vec<u8>,
    seq: u32,
    receiver: Receiver,
    recording: Recording,
    report: LinkReport,
}

impl Capture<'_> {
    /// Runs until the stream ends, the link is lost, or the user interrupts a second time. Returns
    /// messages about the link.
    fn run(&mut self, observer: &mut dyn CaptureObserver) -> Result<Vec<String>> {
        let mut said = Vec::new();
        let (begun, mut requested) = (Instant::now(), Instant::now());
        self.link.write(&self.request).map_err(|e| self.unasked(&e))?;
        let mut bytes = vec![0; 1 << 18];
        let (mut stopped, mut unchecked) = (None, self.board);
        loop {
            let asked = interrupts::asked();
            if asked > 0 && stopped.is_none() {
                observer
                    .say("stopping: waiting for the agent's last records (press Ctrl-C again to quit now)");
                self.send(&WireRecord::Stop(Stop {}))?;
                stopped = Some(Instant::now());
            }
            let silent = |since: Instant| since.max(self.receiver.heard()).elapsed();
            if asked > 1 || stopped.is_some_and(|since| silent(since) > STOP_PATIENCE) {
                break;
            }
            let next = match self.link.read(&mut bytes) {
                Ok(0) => self.receiver.ask(Instant::now()),
                Ok(n) => {
                    let (now, recording) = (Instant::now(), &mut self.recording);
                    let next = self.receiver.take(&bytes[..n], now, &mut |clean| recording.take(clean));
                    self.recording.check(self.address)?;
                    next
                }
                Err(e) if refusal(&e).is_some() => return Err(self.address.failed(&e)),
                Err(e)
                    if self.receiver.nonce().is_none() && stopped.is_none() && !self.address.is_serial() =>
                {
                    return Err(self.no_agent(&e.to_string()));
                }
                Err(e) if stopped.is_some() => {
                    said.push(format!("the link broke while the agent was stopping: {e}"));
                    self.report.lost = Some(Lost::WhileStopping);
                    break;
                }
                Err(e) => {
                    if !self.reconnect(&e, observer)? {
                        said.push(format!("the link broke ({e}) and the session could not be resumed"));
                        self.report.lost = Some(Lost::NotResumed);
                        break;
                    }
                    said.push(format!("the link broke ({e}); reconnected"));
                    self.report.reconnects += 1;
                    continue;
                }
            };
            match next {
                Next::Listen => {}
                Next::Ask(seq) => self.resume(seq)?,
                Next::OtherSession => {
                    said.push(
                        "the agent has started another session: the end of this one is lost".to_owned(),
                    );
                    self.report.lost = Some(Lost::OtherSession);
                    break;
                }
            }
            let unanswered = self.receiver.nonce().is_none() && stopped.is_none();
            let answer_within = Duration::from_secs(self.options.wait.saturating_mul(ANSWER));
            if unanswered && !self.address.is_serial() && begun.elapsed() > answer_within {
                let silent = format!("no answer within {} s", answer_within.as_secs());
                return Err(self.no_agent(&silent));
            }
            if unanswered && self.address.is_serial() {
                if begun.elapsed() > Duration::from_secs(self.options.wait) {
                    return Err(self.nobody());
                }
                if requested.elapsed() > ASK_AGAIN {
                    requested = Instant::now();
                    self.link.write(&self.request).map_err(|e| self.unasked(&e))?;
                }
            }
            let serial = self.receiver.nonce().is_some() && self.address.is_serial();
            if serial && self.receiver.heard().elapsed() > SILENCE {
                said.push(format!(
                    "no frame from the agent for {} s: the agent has ended, or the line is cut",
                    SILENCE.as_secs()
                ));
                self.report.lost = Some(Lost::Silent);
                break;
            }
            if observer.wants_last()
                && let Some(last) = self.recording.window().and_then(Window::last)
            {
                observer.last(last);
            }
            let live = self.recording.live();
            if let Some(board) = unchecked
                && !live.machine.is_empty()
            {
                unchecked = None;
                let seen = Seen { machine: live.machine, model: live.cpu_model, midrs: &[] };
                if let Err(e) = crate::board::check(board, seen, self.options) {
                    let _ = self.send(&WireRecord::Stop(Stop {}));
                    return Err(e);
                }
            }
            if self.receiver.nonce().is_none() {
                observer.say("the agent has not answered yet");
            } else if self.receiver.heard().elapsed() > QUIET {
                let silent = self.receiver.heard().elapsed().as_secs();
                observer.say(&format!("nothing received for {silent} s: the board or the link may be down"));
            } else if live.waiting {
                observer.say("the agent is ready and waits for the engine");
            } else if stopped.is_none() {
                observer.live(&live);
            }
            if live.ended || live.refused.is_some() {
                // The stop tells the agent not to wait for resend requests or for a host that
                // reconnects.
                let _ = self.send(&WireRecord::Stop(Stop {}));
                break;
            }
        }
        if self.receiver.noise > 0 {
            let (noise, repairs) = (self.receiver.noise, self.receiver.repairs);
            said.push(format!(
                "{noise} bytes on the line belong to no frame; requested {repairs} times to send again"
            ));
        }
        Ok(said)
    }

    /// Reconnects and requests the missing frames. False if that fails, or if the user interrupts.
    fn reconnect(&mut self, why: &std::io::Error, observer: &mut dyn CaptureObserver) -> Result<bool> {
        let Some(nonce) = self.receiver.nonce() else { return Ok(false) };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(self.options.reconnect) {
            observer.say(&format!("the link broke ({why}): reconnecting"));
            if interrupts::asked() > 0 {
                return Ok(false);
            }
            if let Ok(link) = self.address.connect() {
                self.link = link;
                self.recording.forget_partial()?;
                let seq = self.recording.decoder.next_seq();
                if self.send(&WireRecord::Resume(Resume { nonce, seq })).is_ok() && self.answers() {
                    return Ok(true);
                }
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(false)
    }

    /// True if the new connection delivers this session. A forwarded port without an agent accepts
    /// a connection and closes it.
    fn answers(&mut self) -> bool {
        self.receiver.reconnected();
        let (begun, mut bytes) = (Instant::now(), vec![0; 1 << 16]);
        while begun.elapsed() < Duration::from_secs(2) {
            match self.link.read(&mut bytes) {
                Ok(0) => {}
                Ok(n) => {
                    let recording = &mut self.recording;
                    let next =
                        self.receiver.take(&bytes[..n], Instant::now(), &mut |clean| recording.take(clean));
                    return next != Next::OtherSession;
                }
                Err(_) => return false,
            }
        }
        false
    }

    fn resume(&mut self, seq: u32) -> Result<()> {
        match self.receiver.nonce() {
            Some(nonce) => self.send(&WireRecord::Resume(Resume { nonce, seq })),
            None => Ok(()),
        }
    }

    fn send(&mut self, record: &WireRecord<'_>) -> Result<()> {
        let mut bytes = Vec::new();
        frame(record, self.seq, &mut bytes).ok_or_else(|| self.unasked(&"the request is too long"))?;
        self.seq += 1;
        self.link.write(&bytes).map_err(|e| self.unasked(&e))
    }

    fn unasked(&self, answer: &dyn std::fmt::Display) -> Diagnostic {
        Diagnostic::new(
            format!("sending a request to the agent at {}", self.address),
            answer,
            "start the capture again",
        )
    }

    /// The error for a port at which something else than an agent listens.
    fn no_agent(&self, answer: &str) -> Diagnostic {
        let said = foreign::line(self.receiver.greeting())
            .map_or_else(String::new, |line| format!("; it says `{line}`"));
        let help = "a forwarded port without an agent ends like this: start `profinfer-agent serve` on the board; else another \
                    program listens there (`ss -ltnp`); a slow board needs a larger --wait";
        Diagnostic::new(format!("waiting for the agent at {}", self.address), format!("{answer}{said}"), help)
    }

    /// The error for a serial line on which no agent answers.
    fn nobody(&self) -> Diagnostic {
        let heard = match (self.receiver.noise, self.receiver.overheard.trim()) {
            (0, _) => "no byte arrived".to_owned(),
            (n, "") => format!("{n} bytes arrived, but none of them is text"),
            (n, text) => {
                format!(
                    "{n} bytes arrived that are not a stream: `{}`",
                    text.lines().last().unwrap_or_default()
                )
            }
        };
        let help = "start `profinfer-agent serve --listen serial:DEVICE@BAUD` on the board, at the other end of this line \
                    and at the same speed. Bytes without text mean a different speed; a prompt means that a shell reads the line";
        Diagnostic::new(format!("waiting for the agent at {}", self.address), heard, help)
    }
}

/// Plan, counters, gauges and start, encoded.
fn request(
    board: Option<&Board>,
    levels: u32,
    (counters, gauges): (&[PlannedCounter], &[GaugeRequest<'_>]),
    options: &Record,
    address: &Address,
) -> Result<Vec<u8>> {
    // A zero byte ends any noise on the line before it.
    let mut bytes = vec![0];
    let too_long = || {
        let help = "shorten --target";
        Diagnostic::new(
            format!("sending a request to the agent at {address}"),
            "the request is too long",
            help,
        )
    };
    let plan = Plan {
        wire_version: WIRE_VERSION,
        // Without a profile, the agent uses its generic one.
        board: board.map_or("", |b| b.name.as_str()),
        levels,
        target: options.target.as_deref().unwrap_or_default(),
    };
    frame(&WireRecord::Plan(plan), 0, &mut bytes).ok_or_else(too_long)?;
    for counter in counters {
        let request = CounterRequest { name: &counter.name, event: counter.event, midr: counter.midr };
        frame(&WireRecord::CounterRequest(request), 0, &mut bytes).ok_or_else(too_long)?;
    }
    for request in gauges {
        frame(&WireRecord::GaugeRequest(*request), 0, &mut bytes).ok_or_else(too_long)?;
    }
    if options.bench {
        let request = BenchRequest { cpus: "", threads: "", budget_ms: 0 };
        frame(&WireRecord::BenchRequest(request), 0, &mut bytes).ok_or_else(too_long)?;
    }
    for request in operators::requests(&options.capture) {
        frame(&request, 0, &mut bytes).ok_or_else(too_long)?;
    }
    let probes = options.probes.kind;
    if probes != Probes::Auto {
        frame(&WireRecord::ProbesRequest(ProbesRequest { probes }), 0, &mut bytes).ok_or_else(too_long)?;
    }
    frame(&WireRecord::Start(Start {}), 0, &mut bytes).ok_or_else(too_long)?;
    Ok(bytes)
}

/// Appends a frame. `None` if the record is too long for one.
fn frame(record: &WireRecord<'_>, seq: u32, bytes: &mut Vec<u8>) -> Option<()> {
    bytes.extend_from_slice(record.encode_frame(seq, &mut [0; MAX_ENCODED])?);
    Some(())
}

fn levels(board: Option<&Board>, options: &Record) -> Result<u32> {
    let names: Vec<&str> = match board {
        _ if !options.levels.is_empty() => options.levels.iter().map(String::as_str).collect(),
        Some(board) => board.levels.iter().map(String::as_str).collect(),
        // Uprobes at operators read experts. Direct probes cannot, so they exclude experts by
        // default.
        None if options.probes.kind == Probes::Direct => vec!["token", "graph", "op", "sched"],
        None => vec!["token", "graph", "op", "expert", "sched"],
    };
    names.into_iter().try_fold(0, |bits, name| match name.trim() {
        "token" => Ok(bits | level::TOKEN),
        "graph" => Ok(bits | level::GRAPH),
        "op" | "operator" => Ok(bits | level::OP),
        "expert" => Ok(bits | level::EXPERT),
        // The scheduler level assigns the time of threads to calls, so it needs the token level.
        "sched" => Ok(bits | level::TOKEN | level::SCHED),
        "all" => Ok(bits | level::ALL),
        other => Err(Diagnostic::new(
            "choosing the levels",
            format!("unknown level `{other}`"),
            "give --levels a list of token, graph, op, expert, sched, separated by commas",
        )),
    })
}
