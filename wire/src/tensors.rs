//! Codes the tensors of a topology. A layer costs only its differences from the layers before it.
//!
//! The nodes of a graph repeat with its period (see [`crate::predicted`]). From layer to layer,
//! names, addresses and sources grow by constant steps. A tensor is therefore the list of its
//! numbers, each written as the difference from a prediction by the tensors one and two periods
//! before. Only tensors of the same batch are used: a lost frame costs only its own tensors.
//!
//! ```text
//! tensor    = number …                     bits, see [`crate::bits`] and [`crate::usual`]
//! number    zigzag of the difference (modulo 2^64) from the expected number, coded by the usual size
//!           of such differences
//! expected  2 × a - b if there are two periods before it, a if there is one, otherwise the previous
//!           tensor's number, 0 for the first
//! ```

use crate::bits::{MAX_NUMBER_BITS, Reader, Writer};
use crate::tensor::{MAX_SRC, Role, Tensor};
use crate::usual::{Cold, Usual, put, take};
use crate::varint::{unzigzag, zigzag};

/// Numbers of a tensor.
const NUMBERS: usize = 13 + MAX_SRC;

/// Longest encoding of one tensor in bytes.
pub const MAX_TENSOR_LEN: usize = (NUMBERS * MAX_NUMBER_BITS + 31).div_ceil(8);

/// Fewest bits of a tensor: one per number.
const MIN_TENSOR_BITS: usize = NUMBERS;

/// Differences between consecutive tensors, and between tensors one and two periods apart.
const WAYS: usize = 3;

fn numbers(t: &Tensor) -> [u64; NUMBERS] {
    let [a, b, c, d] = t.ne;
    let (name, op, desc, dtype, role) =
        (t.name.into(), t.op.into(), t.desc.into(), t.dtype.into(), t.role as u64);
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] = t.src.map(u64::from);
    let (bytes, address, data, view_of) = (t.bytes, t.address, t.data, t.view_of.into());
    [
        name, op, desc, dtype, role, a, b, c, d, bytes, address, data, view_of, s0, s1, s2, s3, s4, s5, s6,
        s7, s8, s9,
    ]
}

fn tensor(numbers: &[u64; NUMBERS]) -> Option<Tensor> {
    let [name, op, desc, dtype, role, a, b, c, d, bytes, address, data, view_of, ref sources @ ..] = *numbers;
    let small = |n: u64| u32::try_from(n).ok();
    let role = match role {
        0 => Role::Node,
        1 => Role::Weight,
        2 => Role::Cache,
        3 => Role::Input,
        4 => Role::Other,
        _ => return None,
    };
    let mut src = [0; MAX_SRC];
    for (slot, source) in src.iter_mut().zip(sources) {
        *slot = small(*source)?;
    }
    let (name, op, desc, dtype) = (small(name)?, small(op)?, small(desc)?, small(dtype)?);
    let (ne, view_of) = ([a, b, c, d], small(view_of)?);
    Some(Tensor { name, op, desc, dtype, role, ne, bytes, address, data, view_of, src })
}

/// The predicted tensor after `before`, and the way of prediction.
fn expected(before: &[Tensor], period: usize) -> ([u64; NUMBERS], usize) {
    let ago = |n: usize| before.len().checked_sub(n).and_then(|at| before.get(at)).map(numbers);
    match (ago(2 * period), ago(period)) {
        (Some(two), Some(mut one)) => {
            for (one, two) in one.iter_mut().zip(two) {
                *one = one.wrapping_add(one.wrapping_sub(two));
            }
            (one, 2)
        }
        (None, Some(one)) => (one, 1),
        _ => (ago(1).unwrap_or([0; NUMBERS]), 0),
    }
}

/// Usual differences, by way and number.
struct Learnt {
    usual: [[Usual; NUMBERS]; WAYS],
    cold: [[Cold; NUMBERS]; WAYS],
}

impl Learnt {
    fn new() -> Self {
        let (usual, cold) = ([[Usual::UNKNOWN; NUMBERS]; WAYS], [[Cold::default(); NUMBERS]; WAYS]);
        Self { usual, cold }
    }

    fn for_way(&mut self, way: usize) -> impl Iterator<Item = (&mut Usual, &mut Cold)> {
        self.usual.iter_mut().zip(&mut self.cold).skip(way).take(1).flat_map(|(u, c)| u.iter_mut().zip(c))
    }
}

/// Packs the first of `tensors`: as many as fit `buf`, at most 65535. Returns their number, and
/// their length in bytes.
#[must_use]
pub fn encode(tensors: &[Tensor], period: u16, buf: &mut [u8]) -> (u16, usize) {
    let (mut to, mut learnt, mut n) = (Writer::default(), Learnt::new(), 0u16);
    for (at, next) in tensors.iter().enumerate().take(usize::from(u16::MAX)) {
        if to.len() + MAX_TENSOR_LEN > buf.len() {
            break;
        }
        let (expected, way) = expected(&tensors[..at], period.max(1).into());
        for ((number, expected), (usual, cold)) in numbers(next).iter().zip(expected).zip(learnt.for_way(way))
        {
            put(zigzag(number.wrapping_sub(expected).cast_signed()), usual, cold, &mut to, buf);
        }
        n += 1;
    }
    (n, to.finish(buf))
}

/// Upper bound of the number of tensors in this many bytes.
#[must_use]
pub const fn most(bytes: usize) -> usize {
    bytes * 8 / MIN_TENSOR_BITS
}

/// Unpacks `count` tensors into the front of `out` and returns their number. It is smaller if the
/// bits are not valid or `out` is too short.
#[must_use]
pub fn decode(bytes: &[u8], period: u16, count: u16, out: &mut [Tensor]) -> usize {
    let (mut from, mut learnt) = (Reader::new(bytes), Learnt::new());
    for at in 0..usize::from(count).min(out.len()) {
        let (mut numbers, way) = expected(&out[..at], period.max(1).into());
        for (number, (usual, cold)) in numbers.iter_mut().zip(learnt.for_way(way)) {
            let Some(difference) = take(usual, cold, &mut from) else { return at };
            *number = number.wrapping_add(unzigzag(difference).cast_unsigned());
        }
        let Some((tensor, to)) = tensor(&numbers).zip(out.get_mut(at)) else { return at };
        *to = tensor;
    }
    usize::from(count).min(out.len())
}

/// Placeholder for a tensor that is not unpacked yet.
pub const NO_TENSOR: Tensor = Tensor {
    name: 0,
    op: 0,
    desc: 0,
    dtype: 0,
    role: Role::Other,
    ne: [0; 4],
    bytes: 0,
    address: 0,
    data: 0,
    view_of: 0,
    src: [0; MAX_SRC],
};
