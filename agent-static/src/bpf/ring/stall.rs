//! Stalls of the ring buffer: a record that is reserved and not submitted, because its thread lost its CPU in between, holds up all
//! records after it.

/// Stalls so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    /// How many.
    pub seen: u64,
    /// The longest one, ns: from the first to the last look that found it, so a lower bound.
    pub longest_ns: u64,
    since_ns: Option<u64>,
}

impl Stalls {
    /// Takes what a look at the ring buffer found: bytes that were there, and whether any record could be read.
    pub fn looked(&mut self, now_ns: u64, waiting: u64, any_read: bool) {
        if waiting == 0 || any_read {
            self.since_ns = None;
            return;
        }
        let since = *self.since_ns.get_or_insert_with(|| {
            self.seen += 1;
            now_ns
        });
        self.longest_ns = self.longest_ns.max(now_ns.saturating_sub(since));
    }
}

#[cfg(test)]
mod tests {
    use super::Stalls;

    #[test]
    fn a_stall_lasts_from_its_first_to_its_last_look() {
        let mut stalls = Stalls::default();
        for (now, waiting, read) in
            [(10, 0, false), (20, 64, true), (30, 64, false), (45, 90, false), (50, 90, true)]
        {
            stalls.looked(now, waiting, read);
        }
        assert_eq!((stalls.seen, stalls.longest_ns), (1, 15));
        stalls.looked(60, 8, false);
        assert_eq!((stalls.seen, stalls.longest_ns), (2, 15));
    }
}
