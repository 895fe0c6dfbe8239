//! Files of a control group that may change while the session runs: which groups a process is in, and their limits.

use std::path::Path;

use super::super::read::Open;
use super::find::Group;

/// Groups whose limits are read again: the process's own one and its parents. Each file stays open.
const LEVELS: usize = 4;

/// Open files, and what they contained when they were read last.
#[derive(Debug, Default)]
pub(super) struct Watched(Vec<(Open, u64)>);

impl Watched {
    /// The file, if it exists.
    pub(super) fn add(&mut self, folder: &Path, name: &str, buffer: &mut [u8]) {
        let Ok(file) = Open::new(folder, name) else { return };
        if let Some(contents) = contents(&file, buffer) {
            self.0.push((file, contents));
        }
    }

    /// Files with these names, as far as they exist, of a group and its parents.
    pub(super) fn add_levels(&mut self, group: &Group, names: &[&str], buffer: &mut [u8]) {
        for folder in group.levels.iter().take(LEVELS) {
            names.iter().for_each(|name| self.add(folder, name, buffer));
        }
    }

    /// Whether one of them has changed since it was read last. A group that was removed has not.
    pub(super) fn changed(&mut self, buffer: &mut [u8]) -> bool {
        let mut changed = false;
        for (file, before) in &mut self.0 {
            if let Some(now) = contents(file, buffer) {
                changed |= now != *before;
                *before = now;
            }
        }
        changed
    }
}

/// A hash of what a file contains; `None` if it cannot be read.
fn contents(file: &Open, buffer: &mut [u8]) -> Option<u64> {
    let text = file.read(buffer).ok()?;
    // FNV-1a, which takes the fewest bytes of code.
    Some(
        text.iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)),
    )
}
