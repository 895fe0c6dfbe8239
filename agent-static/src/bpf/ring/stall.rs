//! Stalls of the ring buffer. A record that is reserved but not yet submitted, because its thread
//! was switched out in between, blocks all records after it.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Number of stalls so far.
    pub seen: u64,
    /// Longest stall: from the first to the last check that found it, so a lower bound.
    pub longest_ns: u64,
    since_ns: Option<u64>,
}

impl Stalls {
    /// Processes one check of the ring buffer: bytes waiting, and whether any record could be read.
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
    fn a_stall_lasts_from_its_first_to_its_last_check() {
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
