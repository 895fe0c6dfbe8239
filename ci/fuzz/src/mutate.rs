//! A small mutator for the smoke run: a seed gives the same inputs on every machine, without a
//! fuzzer.
//!
//! It makes inputs that break parsers of bytes and text: limits of number types, words of a
//! dictionary, pieces of other inputs, repeated pieces, missing ends. Unlike libFuzzer, it does not
//! use coverage.

/// Numbers from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % (end.max(1) as u64)) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// Longest input, bytes.
const LONGEST: usize = 16 << 10;

/// Limits of number types, as bytes.
const BORDERS: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX];

/// Changes one of `corpus` in a few places, with the help of the others and of `words`.
#[must_use]
pub fn mutated(corpus: &[Vec<u8>], words: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.of(corpus).cloned().unwrap_or_default();
    for _ in 0..=random.below(4) {
        change(&mut input, corpus, words, random);
        input.truncate(LONGEST);
    }
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(9) {
        0 | 1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.number() as u8;
            }
        }
        3 => {
            let border = random.of(&BORDERS).map(|b| b.to_le_bytes()).unwrap_or_default();
            let size = 1 << random.below(4);
            put(input, at, border.get(..size).unwrap_or_default(), random);
        }
        4 => input.truncate(at),
        5 => drop(input.drain(at..(at + random.below(64)).min(input.len()))),
        6 => {
            let piece = piece(input, random);
            put(input, at, &piece, random);
        }
        7 => {
            let other = random.of(corpus).map(|other| piece(other, random)).unwrap_or_default();
            put(input, at, &other, random);
        }
        _ => {
            let word = random.of(words).cloned().unwrap_or_default();
            put(input, at, &word, random);
        }
    }
}

/// A piece of at most 256 bytes.
fn piece(of: &[u8], random: &mut Random) -> Vec<u8> {
    let from = random.below(of.len());
    let len = random.below(257).min(of.len() - from);
    of.get(from..from + len).unwrap_or_default().to_vec()
}

/// Over the existing bytes, or between them.
fn put(input: &mut Vec<u8>, at: usize, bytes: &[u8], random: &mut Random) {
    let over = if random.below(2) == 0 { bytes.len().min(input.len() - at) } else { 0 };
    drop(input.splice(at..at + over, bytes.iter().copied()));
}

/// The words of a dictionary in libFuzzer's form: `NAME="text"` per line, with `\\`, `\"` and
/// `\xAB` for bytes that are not printable.
///
/// # Errors
/// The first line that is not in this form.
pub fn dictionary(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| word(line).ok_or_else(|| line.to_owned())).collect()
}

fn word(line: &str) -> Option<Vec<u8>> {
    let quoted = line.get(line.find('"')? + 1..)?.strip_suffix('"')?;
    let (mut word, mut rest) = (Vec::new(), quoted.bytes());
    while let Some(byte) = rest.next() {
        word.push(match byte {
            b'\\' => match rest.next()? {
                b'x' => {
                    let digits = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                escaped @ (b'\\' | b'"') => escaped,
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(word)
}
