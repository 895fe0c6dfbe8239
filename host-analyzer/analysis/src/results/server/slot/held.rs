//! The tokens that a sequence has in the cache, by position. Those of an image may have one position, and the
//! next position is after its height or width (M-RoPE), so a position is no number of tokens.

use super::SequencePart;

/// Parts in order of position, without overlap.
#[derive(Debug, Clone, Default)]
pub(super) struct Held(Vec<SequencePart>);

impl Held {
    /// Adds a part that begins a request, or goes on with one. The engine has removed what was from its
    /// position on.
    pub(super) fn add(&mut self, part: SequencePart, goes_on: bool) {
        let of_one_image = |last: &SequencePart| last.same && part.same && last.pos == part.pos;
        if !(goes_on && self.0.last().is_some_and(of_one_image)) {
            self.cut(part.pos);
        }
        match self.0.last_mut().filter(|last| !last.same && !part.same && last.next == part.pos) {
            Some(last) => (last.next, last.n) = (part.next, last.n + part.n),
            None => self.0.push(part),
        }
    }

    /// Removes what is from `pos` on.
    pub(super) fn cut(&mut self, pos: i64) {
        while let Some(last) = self.0.pop() {
            if last.next <= pos {
                self.0.push(last);
                return;
            }
            if last.pos < pos && !last.same {
                self.0.push(SequencePart { next: pos, n: pos.abs_diff(last.pos), ..last });
                return;
            }
        }
    }

    /// Its content is unknown.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Number of tokens before `pos`; `None` if not all of them are known.
    pub(super) fn before(&self, pos: i64) -> Option<i64> {
        // What comes next may be there at the latest.
        let (mut tokens, mut next, mut latest) = (0_i64, 0_i64, 0_i64);
        for part in self.0.iter().take_while(|part| part.pos < pos) {
            let n = i64::try_from(part.n).ok()?;
            let more_of_it = part.same && part.pos < next;
            if !more_of_it && !(next..=latest).contains(&part.pos) {
                return None;
            }
            tokens += if part.same { n } else { part.next.min(pos) - part.pos };
            next = part.next.min(pos);
            latest = if part.same { part.pos + n } else { next };
        }
        (next..=latest).contains(&pos).then_some(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pos: i64, n: u64) -> SequencePart {
        SequencePart { pos, next: pos + n.cast_signed(), n, outputs: 0, same: false }
    }

    fn image(pos: i64, n: u64) -> SequencePart {
        SequencePart { next: pos + 1, same: true, ..text(pos, n) }
    }

    #[test]
    fn of_a_text_it_is_the_position() {
        let mut held = Held::default();
        assert_eq!([0, 3].map(|pos| held.before(pos)), [Some(0), None]);
        held.add(text(0, 10), false);
        held.add(text(10, 1), true);
        assert_eq!([4, 11, 12].map(|pos| held.before(pos)), [Some(4), Some(11), None]);
        // Rejected guesses, then another prompt with the same beginning.
        held.add(text(11, 4), true);
        held.add(text(13, 2), true);
        assert_eq!(held.before(15), Some(15));
        held.add(text(6, 1), false);
        assert_eq!([7, 8].map(|pos| held.before(pos)), [Some(7), None]);
        // Recorded from its middle on.
        held.forget();
        held.add(text(20, 5), false);
        assert_eq!(held.before(22), None);
    }

    #[test]
    fn tokens_of_an_image_share_a_position() {
        let mut held = Held::default();
        held.add(text(0, 5), false);
        // In two calls.
        held.add(image(5, 64), true);
        held.add(image(5, 36), true);
        held.add(text(15, 3), true);
        assert_eq!([5, 15, 16, 18].map(|pos| held.before(pos)), [Some(5), Some(105), Some(106), Some(108)]);
        // No image of 36 tokens is so wide.
        assert_eq!(held.before(60), None);
        // The image is read again.
        held.add(image(5, 100), false);
        held.add(text(15, 2), true);
        assert_eq!(held.before(17), Some(107));
    }
}
