/// Counts of the stubs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub starts: u64,
    /// Ends of records that were read, dropped, or had no start.
    pub ends: u64,
    pub records: u64,
    /// Dropped because the ring was full.
    pub full: u64,
    pub no_start: u64,
    /// Starts that were followed by another start.
    pub no_end: u64,
    /// Ends in threads without a ring.
    pub no_slot: u64,
}

impl Totals {
    #[must_use]
    pub const fn plus(self, o: Self) -> Self {
        Self {
            starts: self.starts.wrapping_add(o.starts),
            ends: self.ends.wrapping_add(o.ends),
            records: self.records.wrapping_add(o.records),
            full: self.full.wrapping_add(o.full),
            no_start: self.no_start.wrapping_add(o.no_start),
            no_end: self.no_end.wrapping_add(o.no_end),
            no_slot: self.no_slot.wrapping_add(o.no_slot),
        }
    }
}
