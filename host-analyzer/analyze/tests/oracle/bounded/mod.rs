//! A recording whose tables exceed the memory: the oracles are the kernel's limit, and the files of
//! a run without one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "../../../examples/bench_all/stream.rs"]
mod stream;

use profinfer_skip::skip;
use profinfer_trace::test_support::tables as synthetic;

use crate::group::Group;

/// Spans of the session. Their tables and results take about 64 bytes each.
const SPANS: u32 = 2_000_000;
/// Memory limit of the kernel, bytes: half of that.
const LIMIT: u64 = 64 << 20;

fn recording(path: &Path) {
    let tokens = SPANS / (16 * 13 * 2);
    let model = synthetic::model(&synthetic::Spec { layers: 16, tokens, ..Default::default() });
    fs::write(path, stream::bytes(&model)).unwrap();
}

/// `analyze` with one thread at a time, so that it needs the same memory on all machines; in a
/// group if there is one.
fn analyze(group: Option<&Group>, recording: &Path, out: &Path, more: &[&str]) -> Output {
    let enter = group.map_or_else(String::new, |g| format!("echo $$ > {} && ", g.file()));
    Command::new("sh")
        .args(["-c", &format!("{enter}exec taskset -c 0 \"$@\""), "sh", env!("CARGO_BIN_EXE_analyze")])
        .arg(recording)
        .arg("--out")
        .arg(out)
        .args(more)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Names and contents of the files in a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_recording_larger_than_memory_is_analysed_like_any_other() {
    let Some(group) = Group::new("memory", &[("memory.limit_in_bytes", LIMIT.to_string())]) else { return };
    // Swapping would be another way to get room.
    group.set("memory.swappiness", "0");
    // Not where temporary files may be in memory.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [file, free, bound, scratch] =
        ["r.pfi", "free", "bound", "scratch"].map(|name| dir.path().join(name));
    recording(&file);
    fs::create_dir(&scratch).unwrap();
    let done = analyze(None, &file, &free, &[]);
    assert!(done.status.success(), "{}", said(&done));
    assert!(!said(&done).contains("/var/tmp"), "{}", said(&done));

    // With --scratch. Before and after its end, the folder contains no name.
    let done = analyze(Some(&group), &file, &bound, &["--scratch", scratch.to_str().unwrap()]);
    assert!(done.status.success(), "{:?}: {}", done.status, said(&done));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    let (expected, found) = (files(&free), files(&bound));
    assert_eq!(
        expected.iter().map(|(n, b)| (n, b.len())).collect::<Vec<_>>(),
        found.iter().map(|(n, b)| (n, b.len())).collect::<Vec<_>>()
    );
    assert!(expected == found, "the same sizes and other bytes");
    // Files were written under the limit, and the program's own pages stayed below it.
    assert!(group.read("memory.max_usage_in_bytes").trim().parse::<u64>().unwrap() <= LIMIT);

    // The length of a pipe is unknown, so the tables are in memory: they do not fit into this
    // limit.
    let pipe = format!("echo $$ > {} && cat \"$1\" | \"$2\" - --out \"$3\"", group.file());
    let shell = [
        "-c",
        &pipe,
        "sh",
        file.to_str().unwrap(),
        env!("CARGO_BIN_EXE_analyze"),
        dir.path().to_str().unwrap(),
    ];
    assert!(!Command::new("sh").args(shell).output().unwrap().status.success());

    // Without the option.
    fs::remove_dir_all(&bound).unwrap();
    let done = analyze(Some(&group), &file, &bound, &[]);
    assert!(done.status.success(), "{:?}: {}", done.status, said(&done));
    assert!(said(&done).contains("/var/tmp"), "{}", said(&done));
    assert!(files(&free) == files(&bound));
}

/// A separate file system in a file, unmounted at the end.
struct Disk(PathBuf);

impl Disk {
    fn new(folder: &Path, size: u64) -> Option<Self> {
        let (image, point) = (folder.join("disk"), folder.join("mounted"));
        fs::File::create(&image).unwrap().set_len(size).unwrap();
        fs::create_dir(&point).unwrap();
        let done = Command::new("sh")
            .args(["-c", "mkfs.ext4 -q \"$1\" && mount -o loop \"$1\" \"$2\"", "sh"])
            .args([&image, &point])
            .output()
            .unwrap();
        if !done.status.success() {
            skip(format_args!("no file system can be mounted: {}", said(&done).trim()));
            return None;
        }
        Some(Self(point))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_an_error_with_its_reason() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(disk) = Disk::new(dir.path(), 32 << 20) else { return };
    let [file, out] = ["r.pfi", "out"].map(|name| dir.path().join(name));
    recording(&file);
    let done = analyze(None, &file, &out, &["--scratch", disk.0.to_str().unwrap()]);
    let said = said(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("keeping tables in files of ") && said.contains("No space left on device"),
        "{said}"
    );
    assert!(said.contains("  help: free space"), "{said}");
    assert_eq!(
        fs::read_dir(&disk.0).unwrap().filter(|e| e.as_ref().unwrap().file_name() != "lost+found").count(),
        0
    );
}

#[test]
fn folders_that_hold_no_tables_are_refused_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for (folder, answer) in [("/dev/shm", "is in memory"), ("/not/there", "No such file or directory")] {
        let done = analyze(None, Path::new("/no/recording"), &out, &["--scratch", folder]);
        assert!(!done.status.success());
        let said = said(&done);
        assert!(said.contains(&format!("keeping tables in files of {folder}")), "{said}");
        assert!(said.contains(answer) && said.contains("  help: name a folder on a disk"), "{said}");
        assert!(!out.exists());
    }
}
