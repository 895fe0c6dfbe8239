//! Control groups of version 1 with limits; removed at the end.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use profinfer_skip::skip;

pub(crate) struct Group(PathBuf);

impl Group {
    /// A group of one controller with these limits; otherwise the test is skipped.
    pub(crate) fn new(controller: &str, limits: &[(&str, String)]) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let has = |line: &&str| {
            let (_, kind) = line.split_once(" - ").unwrap();
            kind.starts_with("cgroup ") && kind.split([' ', ',']).any(|word| word == controller)
        };
        let Some(point) = mounts.lines().find(has).and_then(|line| line.split(' ').nth(4)) else {
            skip(format_args!("no control groups of version 1 for {controller} are mounted"));
            return None;
        };
        let group = Self(PathBuf::from(point).join(format!("profinfer-test-{}", std::process::id())));
        if let Err(e) = fs::create_dir_all(group.inner()) {
            skip(format_args!("no control group can be made in {point}: {e}"));
            return None;
        }
        limits.iter().for_each(|(file, value)| group.set(file, value));
        Some(group)
    }

    /// A subgroup without limits.
    fn inner(&self) -> PathBuf {
        self.0.join("inner")
    }

    pub(crate) fn set(&self, file: &str, value: &str) {
        fs::write(self.0.join(file), value).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    /// The file to which a process writes itself.
    pub(crate) fn file(&self) -> String {
        self.0.join("cgroup.procs").to_str().unwrap().to_owned()
    }

    /// That of the subgroup.
    pub(crate) fn inner_file(&self) -> String {
        self.inner().join("cgroup.procs").to_str().unwrap().to_owned()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let begun = Instant::now();
        let _ = fs::remove_dir(self.inner());
        while fs::remove_dir(&self.0).is_err() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
            let _ = fs::remove_dir(self.inner());
        }
    }
}
