//! Records by hand, fields in the order of docs/wire-format.md.

use super::bytes::Fields;
use super::truth::{Call, Decode, Span, Tensor, Topology};

/// Kind and payload.
pub type Record = (u16, Vec<u8>);

fn record(kind: u16, fields: Fields) -> Record {
    (kind, fields.0)
}

pub fn session(start: u64) -> Record {
    let f = Fields::default().uint(1).text("0.1.0").text("6.1.0").text("x86_64").text("A CPU").text("host");
    record(0x01, f.uint(4).uint(7).uint(start).uint(1_700_000_000_000_000_000))
}

pub fn text(id: u32, s: &str) -> Record {
    record(0x02, Fields::default().uint(id.into()).text(s))
}

pub fn process(pid: u32) -> Record {
    record(0x03, Fields::default().uint(pid.into()).text("engine").text("engine -m model").text("7.0"))
}

pub fn agent(pid: u32) -> Record {
    record(0x14, Fields::default().uint(pid.into()))
}

/// Roles are bits: 1 token, 2 graph, 4 CPU graph, 8 CPU operators, 16 functions, 32 names.
pub fn library(pid: u32, roles: u64) -> Record {
    let f = Fields::default().uint(pid.into()).text("/lib/libggml-cpu.so");
    record(0x13, f.bytes(&[0xab, 0xcd]).uint(roles))
}

/// The record of older agents, with the roles as words.
pub fn library_of_words(pid: u32, role: &str) -> Record {
    let f = Fields::default().uint(pid.into()).text("/lib/libggml-cpu.so");
    record(0x04, f.bytes(&[0xab, 0xcd]).text(role))
}

pub fn thread(tid: u32, pid: u32, name: &str) -> Record {
    record(0x05, Fields::default().uint(tid.into()).uint(pid.into()).text(name))
}

pub fn probe(pid: u32, level: u32, attached: bool) -> Record {
    let f = Fields::default().uint(pid.into()).uint(level.into()).text("operator start").text("compute");
    record(0x06, f.text("/lib/libggml-cpu.so").uint(0x1234).byte(attached.into()).text("by symbol"))
}

pub fn probe_cost(pairs: u32, pair: u64, inside: u64) -> Record {
    record(0x07, Fields::default().uint(pairs.into()).uint(pair).uint(inside))
}

pub fn decode(id: u32, pid: u32, d: &Decode, n_tokens: Option<u32>) -> Record {
    let f = Fields::default().uint(id.into()).uint(pid.into()).uint(d.tid.into()).byte(0).uint(d.context);
    record(0x10, f.uint(d.start).uint(d.duration).maybe(n_tokens.map(u64::from)).int(d.status.into()))
}

pub fn topology(id: u32, pid: u32, s: &Topology) -> Record {
    let f = Fields::default().uint(id.into()).uint(pid.into()).uint(s.n_nodes.into());
    record(0x20, f.uint(s.tensors.len() as u64 - u64::from(s.n_nodes)))
}

/// The numbers of a tensor; `ids` tells the id of a text.
pub fn numbers(t: &Tensor, ids: &dyn Fn(&str) -> u32) -> Vec<u64> {
    let texts = [t.name.as_str(), t.op, t.op, t.dtype].map(|s| ids(s).into());
    let mut numbers = [&texts[..], &[t.role], &t.ne[..], &[t.bytes, 0x7f00_0000_1000, 0]].concat();
    numbers.push(t.view_of.map_or(0, |v| u64::from(v) + 1));
    for slot in 0..10 {
        let source = t.src.iter().find(|(s, _)| *s == slot);
        numbers.push(source.map_or(0, |(_, i)| u64::from(*i) + 1));
    }
    numbers
}

pub fn tensors(topology: u32, first: u32, part: &[Tensor], ids: &dyn Fn(&str) -> u32) -> Record {
    let packed = part.iter().flat_map(|t| numbers(t, ids)).fold(Fields::default(), Fields::uint);
    let f = Fields::default().uint(topology.into()).uint(first.into()).uint(part.len() as u64);
    record(0x21, f.bytes(&packed.0))
}

/// Memory is the number of its enum.
pub fn buffer(id: u32, pid: u32, kind: &str, memory: u64, path: &str) -> Record {
    record(0x0a, Fields::default().uint(id.into()).uint(pid.into()).text(kind).uint(memory).text(path))
}

/// Weights, as index and buffer, in order of their indices.
pub fn placement_batch(topology: u32, weights: &[(u32, u32)]) -> Record {
    let mut next = 0;
    let mut packed = Fields::default();
    for (index, buffer) in weights {
        packed = packed.uint((index - next).into()).uint((*buffer).into());
        next = index + 1;
    }
    let f = Fields::default().uint(topology.into()).uint(weights.len() as u64);
    record(0x24, f.bytes(&packed.0))
}

/// Numbers of a graph call's record that the truth does not have.
#[derive(Debug, Clone, Copy)]
pub struct CallIds {
    pub id: u32,
    pub pid: u32,
    pub topology: u32,
    pub backend: u32,
    pub decode: u32,
    pub parent: u32,
}

pub fn graph_call(ids: CallIds, c: &Call) -> Record {
    let f = Fields::default().uint(ids.id.into()).uint(ids.topology.into()).uint(ids.pid.into());
    let f = f.uint(c.tid.into()).byte(u8::from(!c.scheduler)).uint(ids.backend.into());
    let f = f.uint(c.n_nodes.into()).uint(c.n_tokens.into()).uint(ids.decode.into()).uint(ids.parent.into());
    record(0x22, f.uint(c.start).uint(c.duration))
}

/// The spans of one thread, packed by the rules of the span coding. Its first cpu is `cpu`.
pub fn span_batch(graph: u32, topology: u32, tid: u32, cpu: u16, spans: &[Span]) -> Record {
    let base = spans[0].start;
    let (mut last, mut end, mut now) = (-1i64, base, cpu);
    let mut packed = Fields::default();
    for s in spans {
        let (step, fused) = (i64::from(s.node) - last - 1, s.last - s.node);
        let moved = s.cpu != now;
        let short = match (step, fused) {
            _ if moved || s.migrated => None,
            (0..=3, 0) => Some(step as u64),
            (0..=1, 1) => Some(4 + step as u64),
            _ => None,
        };
        packed = packed.uint((s.start - end) * 8 + short.unwrap_or(6));
        if short.is_none() {
            let flags = u64::from(fused > 0) + 2 * u64::from(moved) + 4 * u64::from(s.migrated);
            packed = packed.uint(flags).int(step);
            if fused > 0 {
                packed = packed.uint(fused.into());
            }
            if moved {
                packed = packed.uint(s.cpu.into());
            }
        }
        packed = packed.uint(s.work);
        (last, end, now) = (s.last.into(), s.start + s.work, s.cpu);
    }
    let f = Fields::default().uint(graph.into()).uint(topology.into()).uint(tid.into()).uint(base);
    record(0x30, f.uint(cpu.into()).uint(spans.len() as u64).bytes(&packed.0))
}

/// Kind and unit are the numbers of their enums.
pub fn gauge(id: u64, name: &str, kind: u64, unit: u64, attached: bool, note: &str) -> Record {
    let f = Fields::default().uint(id).text(name).uint(kind).uint(unit).text("/sys/node").uint(100);
    record(0x09, f.byte(attached.into()).text(note))
}

/// Values of gauges; `None` where a node could not be read.
pub fn gauge_batch(at: u64, samples: &[(u64, Option<i64>)]) -> Record {
    let packed = samples.iter().fold(Fields::default(), |f, (id, value)| match value {
        Some(value) => f.uint(id * 2 + 1).int(*value),
        None => f.uint(id * 2),
    });
    record(0x50, Fields::default().uint(at).uint(samples.len() as u64).bytes(&packed.0))
}

/// The subject of a fact, by the number of its enum and its id.
#[derive(Debug, Clone, Copy)]
pub enum Scope {
    System,
    Process(u64),
    Thread(u64),
    Cpu(u64),
}

/// The value of a fact.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    Number(u64),
    Text(&'a str),
    Absent(&'a str),
}

pub fn fact(at: u64, scope: Scope, name: &str, value: Value<'_>) -> Record {
    let f = Fields::default().uint(at);
    let f = match scope {
        Scope::System => f.uint(0),
        Scope::Process(pid) => f.uint(1).uint(pid),
        Scope::Thread(tid) => f.uint(2).uint(tid),
        Scope::Cpu(cpu) => f.uint(3).uint(cpu),
    };
    let f = f.text(name);
    let f = match value {
        Value::Number(n) => f.uint(0).uint(n),
        Value::Text(text) => f.uint(1).text(text),
        Value::Absent(why) => f.uint(2).text(why),
    };
    record(0x0c, f)
}

/// Kind is the number of its enum; figures are repeats, median, least, most.
pub fn ceiling(kind: u64, core: &str, cpus: &str, how: &str, figures: [u64; 4], note: &str) -> Record {
    let f = Fields::default().uint(kind).text(core).text(cpus).text(how);
    record(0x0b, figures.into_iter().fold(f, Fields::uint).text(note))
}

/// Figures are working set, repeats, median, least, most, doubts; `end` is the number of its enum.
pub fn ceiling_point(kind: u64, cpus: &str, how: &str, figures: [u64; 6], end: u64) -> Record {
    let f = Fields::default().uint(kind).text("Cortex-A76").text(cpus).text(how);
    record(0x18, figures.into_iter().fold(f, Fields::uint).uint(end))
}

/// Figures are the time of the measurement, the CPU time of others, and that of the process.
pub fn ceiling_load(kind: u64, cpus: &str, how: &str, figures: [u64; 3], pid: u64, name: &str) -> Record {
    let [wall, others, of_pid] = figures;
    let f = Fields::default().uint(kind).text(cpus).text(how).uint(wall).uint(others);
    record(0x19, f.uint(pid).text(name).uint(of_pid))
}

pub fn clock(at: u64) -> Record {
    record(0x70, Fields::default().uint(at).uint(at + 5).uint(at + 1_700_000_000_000_000_000))
}

fn totals(f: Fields, at: u64, spans: u64) -> Fields {
    let f = f.uint(at).uint(spans).uint(spans).uint(spans);
    (0..10).fold(f, |f, _| f.uint(0))
}

pub fn loss(at: u64, spans: u64) -> Record {
    record(0x7e, totals(Fields::default(), at, spans))
}

/// The engine ended.
pub fn end(at: u64, spans: u64, frames: u32) -> Record {
    let f = totals(Fields::default().uint(0).uint(frames.into()), at, spans);
    record(0x7f, f.uint(123).uint(4).uint(5_000_000).uint(9 << 20))
}

pub fn refused(tried: &str, answer: &str, help: &str) -> Record {
    record(0x10b, Fields::default().text(tried).text(answer).text(help))
}

/// The record of older agents, with the reason as one text.
pub fn refused_in_one(reason: &str) -> Record {
    record(0x103, Fields::default().text(reason))
}

/// A part of a batch. Absent numbers are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    pub skip: u64,
    pub n: u64,
    pub seq: Option<i64>,
    /// Absent where it is one.
    pub n_seq: Option<u64>,
    pub pos: Option<i64>,
    pub same: bool,
    pub outputs: Option<u64>,
}

/// Parts of the batch of a decode call.
pub fn part_batch(decode: u32, parts: &[Part]) -> Record {
    let packed = parts.iter().fold(Fields::default(), |f, p| {
        let rare = p.skip > 0 || p.n_seq.is_some();
        let bits = [p.seq.is_some(), p.pos.is_some(), p.outputs.is_some(), rare, p.same];
        let flags = bits.iter().rev().fold(0, |sum, bit| sum * 2 + u64::from(*bit));
        let f = f.uint(p.n * 32 + flags);
        let f = if rare { f.uint(p.skip).uint(p.n_seq.unwrap_or(u64::from(p.seq.is_some()))) } else { f };
        let f = [p.seq, p.pos].into_iter().flatten().fold(f, Fields::int);
        p.outputs.into_iter().fold(f, Fields::uint)
    });
    record(0x11, Fields::default().uint(decode.into()).uint(parts.len() as u64).bytes(&packed.0))
}

/// Totals of batches in the order of the record: tokens, sent, and five kinds of loss.
pub fn part_loss(at: u64, totals: [u64; 7]) -> Record {
    record(0x12, totals.into_iter().fold(Fields::default().uint(at), Fields::uint))
}

/// An edit of memory 9: its kind, then sequence, first position, position after the last one, and target.
pub fn edit(pid: u32, at: u64, kind: u8, numbers: [i64; 4]) -> Record {
    let f = Fields::default().uint(pid.into()).uint(at).uint(9).byte(kind);
    record(0x16, numbers.into_iter().fold(f, Fields::int))
}

/// The engine did something for itself: kind, start, duration, bytes.
pub fn housekeeping(pid: u32, tid: u32, kind: u8, numbers: [u64; 3]) -> Record {
    let f = Fields::default().uint(pid.into()).uint(tid.into()).byte(kind);
    record(0x1a, numbers.into_iter().fold(f, Fields::uint))
}

/// Outputs of a decode call were taken.
pub fn taken(decode: u32, outputs: u64) -> Record {
    record(0x17, Fields::default().uint(decode.into()).uint(outputs))
}

/// A run of a router's selection.
#[derive(Debug, Clone)]
pub struct Run {
    pub node: u32,
    pub n_used: u32,
    pub first: u32,
    pub experts: Vec<u32>,
}

/// Routers' selections of a graph call.
pub fn expert_batch(graph: u32, topology: u32, runs: &[Run]) -> Record {
    let mut before = 0;
    let mut packed = Fields::default();
    for run in runs {
        packed = packed.int(i64::from(run.node) - before).uint(run.n_used.into()).uint(run.first.into());
        packed = packed.uint(run.experts.len() as u64);
        packed = run.experts.iter().fold(packed, |f, e| f.uint((*e).into()));
        before = run.node.into();
    }
    let f = Fields::default().uint(graph.into()).uint(topology.into()).uint(runs.len() as u64);
    record(0x40, f.bytes(&packed.0))
}

/// Totals of experts in the order of the record: chosen, sent, and four kinds of loss.
pub fn expert_loss(at: u64, totals: [u64; 6]) -> Record {
    record(0x41, totals.into_iter().fold(Fields::default().uint(at), Fields::uint))
}
