//! The CPUs on which a process or a thread may run.

use super::read::field;

/// Longest list that is remembered, in bytes.
const MAX_LIST: usize = 512;

/// The list from the status file of a process or thread.
pub(super) fn of(status: &[u8]) -> Option<&str> {
    std::str::from_utf8(field(status, "Cpus_allowed_list:")?).ok()
}

/// The list that was sent last.
#[derive(Debug, Default)]
pub(super) struct Affinity(heapless::String<MAX_LIST>);

impl Affinity {
    /// Whether `list` differs from the last one, and remembers it. A list that is too long to be
    /// remembered counts as equal.
    pub(super) fn changed(&mut self, list: &str) -> bool {
        let new = self.0 != list && list.len() <= MAX_LIST;
        if new {
            self.0.clear();
            // It fits, see above.
            let _ = self.0.push_str(list);
        }
        new
    }

    pub(super) fn is(&self, list: &str) -> bool {
        self.0 == list
    }
}
