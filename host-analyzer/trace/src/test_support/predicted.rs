//! The predicted coding of spans and of tensors by hand, as docs/wire-format.md describes it: slow,
//! with bits as a list.

use std::collections::HashMap;

use super::bytes::Fields;
use super::records::Record;
use super::truth::Span;

/// Bits, the first one first.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn bits(&mut self, value: u128, n: u32) {
        self.0.extend((0..n).rev().map(|at| value >> at & 1 == 1));
    }

    /// Tries the steps in order until one contains the value.
    fn number(&mut self, value: u64, order: u32, may_be_escape: bool) {
        let (value, mut ones, mut first, mut width) = (u128::from(value), 0, 0, order);
        while value >= first + (1 << width) {
            first += 1 << width;
            ones += 1;
            width += u32::from(ones > 2);
        }
        let more = usize::from(may_be_escape && ones >= 12);
        self.0.extend(vec![true; ones + more]);
        self.0.push(false);
        self.bits(value - first, width);
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |eight: &[bool]| (0..8).fold(0, |b, i| b * 2 + u8::from(eight.get(i) == Some(&true)));
        self.0.chunks(8).map(byte).collect()
    }
}

fn floor_log2(n: u64) -> u32 {
    63 - n.leading_zeros()
}

struct Usual {
    mean: i64,
    spread: u64,
}

/// The known values of numbers, and the size of unknown ones.
#[derive(Default)]
struct Learnt {
    usual: HashMap<(u64, usize), Usual>,
    cold: HashMap<(u64, usize), u64>,
}

impl Learnt {
    /// Writes number `what` of those at `place`. Numbers with the same `cold` learn their size
    /// together.
    fn number(&mut self, bits: &mut Bits, at: (u64, usize), cold: u64, value: u64, may_be_escape: bool) {
        let Some(usual) = self.usual.get_mut(&at) else {
            let cold = self.cold.entry((cold, at.1)).or_insert(1024);
            bits.number(value, floor_log2((*cold).max(1)), false);
            *cold = *cold - *cold / 4 + value.min(1 << 32) / 4;
            let spread = 4 * ((value / 8).min(1 << 20) + 1);
            self.usual.insert(at, Usual { mean: value as i64, spread });
            return;
        };
        let difference = value as i64 - usual.mean;
        let coded = if difference < 0 { (-difference) as u64 * 2 - 1 } else { difference as u64 * 2 };
        bits.number(coded, floor_log2(usual.spread.max(4)) - 2, may_be_escape);
        usual.mean += difference.div_euclid(2);
        usual.spread = usual.spread - usual.spread / 4 + coded.min(4 * usual.spread + 64).min(1 << 32);
    }
}

/// The spans of one thread, without counts; graph, topology and thread are `ids`. Its first cpu is
/// `cpu`.
pub fn predicted_batch(ids: (u32, u32, u32), cpu: u16, period: u64, spans: &[Span]) -> Record {
    // Per remainder: 0 is the wait and 1 the work.
    let (mut learnt, mut next) = (Learnt::default(), HashMap::new());
    let base = spans[0].start;
    let (mut behind, mut place, mut end, mut now) = (0u64, period - 1, base, cpu);
    let mut bits = Bits::default();
    for s in spans {
        let (node, fused, wait) = (u64::from(s.node), u64::from(s.last - s.node), s.start - end);
        let at = node % period;
        let known: Option<(u64, u64)> = next.get(&place).copied();
        let usable = known.filter(|(step, _)| learnt.usual.contains_key(&((behind + step) % period, 0)));
        let as_usual = known == Some((node.wrapping_sub(behind), fused)) && s.cpu == now && !s.migrated;
        if usable.is_some() && as_usual {
            learnt.number(&mut bits, (at, 0), 0, wait, true);
        } else {
            if usable.is_some() {
                bits.0.extend([true; 12]);
                bits.0.push(false);
            }
            let flags = u128::from(fused > 0) + 2 * u128::from(s.cpu != now) + 4 * u128::from(s.migrated);
            bits.bits(flags, 4);
            let step = node as i64 - behind as i64;
            bits.number(if step < 0 { (-step) as u64 * 2 - 1 } else { step as u64 * 2 }, 2, false);
            if fused > 0 {
                bits.number(fused, 0, false);
            }
            if s.cpu != now {
                bits.number(s.cpu.into(), 3, false);
            }
            learnt.number(&mut bits, (at, 0), 0, wait, false);
        }
        learnt.number(&mut bits, (at, 1), 0, s.work, false);
        if node >= behind {
            next.insert(place, (node - behind, fused));
        } else {
            next.remove(&place);
        }
        (behind, place) = (u64::from(s.last) + 1, u64::from(s.last) % period);
        (end, now) = (s.start + s.work, s.cpu);
    }
    let f = Fields::default().uint(ids.0.into()).uint(ids.1.into()).uint(ids.2.into()).uint(base);
    let f = f.uint(cpu.into()).uint(spans.len() as u64).uint(period).byte(0);
    (0x32, f.bytes(&bits.bytes()).0)
}

/// Tensors, each as its numbers; topology and first tensor are `of`.
pub fn tensor_batch(of: (u32, u32), period: u64, tensors: &[Vec<u64>]) -> Record {
    let (mut bits, mut learnt) = (Bits::default(), Learnt::default());
    for (i, tensor) in tensors.iter().enumerate() {
        let ago = |n: usize| i.checked_sub(n).map(|at| &tensors[at]);
        let (one, two) = (ago(period as usize), ago(2 * period as usize));
        for (k, number) in tensor.iter().enumerate() {
            let (way, expected) = match (one, two) {
                (Some(one), Some(two)) => (2, one[k].wrapping_mul(2).wrapping_sub(two[k])),
                (Some(one), None) => (1, one[k]),
                _ => (0, ago(1).map_or(0, |before| before[k])),
            };
            let difference = number.wrapping_sub(expected) as i64;
            let coded = if difference < 0 { !(difference as u64) * 2 + 1 } else { difference as u64 * 2 };
            learnt.number(&mut bits, (way, k), way, coded, false);
        }
    }
    let f = Fields::default().uint(of.0.into()).uint(of.1.into()).uint(tensors.len() as u64).uint(period);
    (0x25, f.bytes(&bits.bytes()).0)
}

#[test]
fn the_example_of_the_document() {
    let span = |node, last, start, work, cpu| Span {
        call_start: 0,
        tid: 43,
        node,
        last,
        start,
        work,
        wait: 0,
        cpu,
        migrated: false,
    };
    let spans = [
        span(0, 0, 1_000_000, 900, 1),
        span(2, 2, 1_001_400, 12_000, 1),
        span(3, 4, 1_013_700, 2_000, 1),
        span(9, 9, 1_016_000, 250, 3),
        span(15, 15, 1_016_600, 260, 3),
        span(21, 21, 1_017_200, 2_260, 3),
    ];
    let hex = "02012bc0843d010602001f00001c202ffef3ffe59e3ffc224b39d0fff160c0fd4afffc1af29582f70400";
    let bytes: String =
        predicted_batch((2, 1, 43), 1, 2, &spans).1.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(bytes, hex);
}

#[test]
fn the_layers_of_the_document() {
    let layer = |i: u64| {
        let of = [
            10 + i,
            3,
            3,
            4,
            0,
            64,
            5,
            1,
            1,
            1280,
            0x7f00_0000_1000 + i * 0x170,
            0x7f11_0000_0000 - i * 0x500,
        ];
        [&of[..], &[0, i, 4 + i], &[0; 8]].concat()
    };
    let hex = "01000301730280180300800020005002005a00fffffffffefc0000003801fffffffffdf887fffff0000000001000000000000000000000000080000000000000000000000002e0cff80000400800000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
    let batch = tensor_batch((1, 0), 1, &[layer(0), layer(1), layer(2)]);
    assert_eq!(batch.1.iter().map(|b| format!("{b:02x}")).collect::<String>(), hex);
}
