//! Control groups of version 1 with a limit; removed at the end.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use profinfer_skip::skip;

pub(super) struct Group(PathBuf);

impl Group {
    /// A group of one controller with these limits; otherwise the test is skipped.
    pub(super) fn new(controller: &str, limits: &[(&str, String)]) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let has = |line: &&str| {
            let (_, kind) = line.split_once(" - ").unwrap();
            kind.starts_with("cgroup ") && kind.split([' ', ',']).any(|word| word == controller)
        };
        let Some(point) = mounts.lines().find(has).and_then(|line| line.split(' ').nth(4)) else {
            skip(format_args!("no control groups of version 1 for {controller} are mounted"));
            return None;
        };
        let group = Self(PathBuf::from(point).join(format!("profinfer-promise-{}", std::process::id())));
        if let Err(e) = fs::create_dir_all(&group.0) {
            skip(format_args!("no control group can be made in {point}: {e}"));
            return None;
        }
        for (file, value) in limits {
            fs::write(group.0.join(file), value).unwrap();
        }
        Some(group)
    }

    /// The file to which a process writes itself.
    pub(super) fn file(&self) -> String {
        self.0.join("cgroup.procs").to_str().unwrap().to_owned()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let begun = Instant::now();
        while fs::remove_dir(&self.0).is_err() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
