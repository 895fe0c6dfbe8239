//! A traced process: its memory, page faults and startup settings.

use std::path::Path;

use profinfer_wire::record::fact::FactScope;

use super::affinity::{self, Affinity};
use super::cgroup::Cgroup;
use super::environment;
use super::file::Files;
use super::read::{self, Open, kib, number, ticks};
use super::send::{Changing, Sender};

/// Facts of /proc/PID/status in KiB, of /proc/PID/stat by the index after the name, of
/// /proc/PID/io, and of /proc/PID/smaps_rollup in KiB.
const STATUS: [(&str, &str); 4] = [
    ("rss.anonymous", "RssAnon:"),
    ("rss.file", "RssFile:"),
    ("rss.shared", "RssShmem:"),
    ("swapped", "VmSwap:"),
];
const STAT: [(&str, usize); 4] =
    [("faults.minor", 7), ("faults.major", 9), ("kernel_ns", KERNEL), ("threads", 17)];
/// Clock ticks that its threads spent in the kernel.
const KERNEL: usize = 12;
const NICE: usize = 16;
const FLAGS: usize = 6;
/// `PF_EXITING` of include/linux/sched.h.
const EXITING: u64 = 4;
const IO: (&str, &str) = ("io.read_bytes", "read_bytes:");
const SMAPS: [(&str, &str); 2] = [("huge.anonymous", "AnonHugePages:"), ("huge.file", "FilePmdMapped:")];

/// Values that are sampled while the session runs.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) affinity: Affinity,
    pub(super) files: Files,
    status: File<4>,
    stat: File<4>,
    io: File<1>,
    smaps: File<2>,
    cgroup: Cgroup,
    /// A thread of it has computed, so its weights are loaded.
    pub(super) computes: bool,
}

/// An open file, and its values that were sent.
#[derive(Debug)]
struct File<const N: usize> {
    open: Option<Open>,
    sent: [Changing; N],
}

impl<const N: usize> File<N> {
    /// Opens a file and sends its values, or why there are none.
    fn begin(
        (root, path): (&Path, &str),
        buffer: &mut [u8],
        out: &mut Sender<'_>,
        scope: FactScope,
        names: [&str; N],
        of: impl Fn(&[u8], usize) -> Option<u64>,
    ) -> Self {
        let opened = Open::new(root, path);
        let text = opened.as_ref().map_err(Clone::clone);
        let text = text.and_then(|f| f.read(buffer).map_err(|e| read::why(path, &e)));
        let mut sent = [Changing::default(); N];
        for (i, (changing, name)) in sent.iter_mut().zip(names).enumerate() {
            let value = text.clone().and_then(|t| of(t, i).ok_or_else(|| format!("{path} does not have it")));
            changing.begin(out, scope, name, value);
        }
        Self { open: opened.ok(), sent }
    }

    /// The text of the file; `None` if the process has ended.
    fn read<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        self.open.as_ref()?.read(buffer).ok()
    }
}

fn of_status(text: &[u8], i: usize) -> Option<u64> {
    kib(text, STATUS[i].1)
}

fn of_stat(text: &[u8], i: usize) -> Option<u64> {
    let value = read::stat(text, STAT[i].1).and_then(number);
    if STAT[i].1 == KERNEL { value.map(ticks) } else { value }
}

fn of_io(text: &[u8], _: usize) -> Option<u64> {
    read::field(text, IO.1).and_then(number)
}

fn of_smaps(text: &[u8], i: usize) -> Option<u64> {
    kib(text, SMAPS[i].1)
}

impl Process {
    /// Sends the facts of a process; `None` if it has ended.
    pub(super) fn begin(root: &Path, pid: u32, buffer: &mut [u8], out: &mut Sender<'_>) -> Option<Self> {
        let folder = format!("/proc/{pid}");
        if !read::at(root, &folder).is_dir() {
            return None;
        }
        let scope = FactScope::Process(pid);
        let path = |name: &str| format!("{folder}/{name}");
        let program =
            std::fs::read_link(read::at(root, &path("exe"))).map_err(|e| read::why(&path("exe"), &e));
        out.text_or(scope, "program", program.map(|p| p.to_string_lossy().into_owned()));
        environment::send(root, pid, out);
        let cgroup = Cgroup::begin(root, pid, buffer, out);
        let names = STATUS.map(|(name, _)| name);
        let status = File::begin((root, &path("status")), buffer, out, scope, names, of_status);
        let names = STAT.map(|(name, _)| name);
        let stat = File::begin((root, &path("stat")), buffer, out, scope, names, of_stat);
        let io = File::begin((root, &path("io")), buffer, out, scope, [IO.0], of_io);
        let names = SMAPS.map(|(name, _)| name);
        let smaps = File::begin((root, &path("smaps_rollup")), buffer, out, scope, names, of_smaps);
        let affinity = Affinity::default();
        let files = Files::begin(root, pid);
        let mut process = Self { pid, affinity, files, status, stat, io, smaps, cgroup, computes: false };
        if !process.send_affinity(buffer, out) {
            out.absent(scope, "affinity", &format!("{} does not have it", path("status")));
        }
        match process.stat.read(buffer).and_then(|text| read::stat(text, NICE)).map(std::str::from_utf8) {
            Some(Ok(nice)) => out.text(scope, "nice", nice),
            _ => out.absent(scope, "nice", &format!("{} does not have it", path("stat"))),
        }
        Some(process)
    }

    /// It has ended, or is about to.
    fn exits(&self, buffer: &mut [u8]) -> bool {
        let flags = self.stat.read(buffer).and_then(|text| read::stat(text, FLAGS)).and_then(number);
        flags.is_none_or(|flags| flags & EXITING != 0)
    }

    /// False if the affinity is unknown.
    fn send_affinity(&mut self, buffer: &mut [u8], out: &mut Sender<'_>) -> bool {
        let list = self.status.read(buffer).and_then(affinity::of);
        if let Some(list) = list
            && self.affinity.changed(list)
        {
            out.essential().text(FactScope::Process(self.pid), "affinity", list);
        }
        list.is_some()
    }

    /// Sends changed values; false if the process has ended.
    pub(super) fn sample(&mut self, buffer: &mut [u8], out: &mut Sender<'_>) -> bool {
        let scope = FactScope::Process(self.pid);
        // The group's counters continue for a moment after the end of the process.
        self.cgroup.sample(scope, buffer, out);
        // The kernel takes a process that exits out of its groups.
        if self.cgroup.has_changed(buffer) && !self.exits(buffer) {
            self.cgroup.begin_again(scope, buffer, &mut out.essential());
        }
        let Some(text) = self.status.read(buffer) else { return false };
        for (i, (changing, (name, _))) in self.status.sent.iter_mut().zip(STATUS).enumerate() {
            changing.send(out, scope, name, of_status(text, i));
        }
        self.send_affinity(buffer, out);
        if let Some(text) = self.stat.read(buffer) {
            for (i, (changing, (name, _))) in self.stat.sent.iter_mut().zip(STAT).enumerate() {
                changing.send(out, scope, name, of_stat(text, i));
            }
        }
        if let Some(text) = self.io.read(buffer) {
            self.io.sent[0].send(out, scope, IO.0, of_io(text, 0));
        }
        true
    }

    /// Sends how much of its memory is in huge pages. The kernel walks all of it for this.
    pub(super) fn sample_huge(&mut self, buffer: &mut [u8], out: &mut Sender<'_>) {
        let Some(text) = self.smaps.read(buffer) else { return };
        for (i, (changing, (name, _))) in self.smaps.sent.iter_mut().zip(SMAPS).enumerate() {
            changing.send(out, FactScope::Process(self.pid), name, of_smaps(text, i));
        }
    }
}
