//! An engine whose libraries are mapped out of an archive, as the loaders of Android and OpenHarmony map those
//! of an APK or HAP: the same trace as of unpacked libraries, node by node.
//!
//! `ci/drivers/packed.c` stands in for the loader.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use profinfer_trace::model::{Level, Probe};

use crate::attach::{wait, wait_for_probes};
use crate::engine_list::parse;
use crate::nodes::check_trace;
use crate::support::{engine, model, parts, read, signal};

const PAGE: usize = 4096;

/// Writes a zip whose stored entries begin on pages, as `zipalign` makes an APK. Returns where they begin. It has
/// no directory, which no loader needs.
fn archive(path: &Path, libraries: &[PathBuf]) -> Vec<usize> {
    let mut bytes = Vec::new();
    let mut begins = Vec::new();
    for library in libraries {
        let name = format!("lib/arm64-v8a/{}", library.file_name().unwrap().to_str().unwrap());
        let at = (bytes.len() + 30 + name.len()).next_multiple_of(PAGE);
        let extra = u16::try_from(at - bytes.len() - 30 - name.len()).unwrap();
        let content = fs::read(library).unwrap();
        let size = u32::try_from(content.len()).unwrap().to_le_bytes();
        bytes.extend(b"PK\x03\x04");
        bytes.extend([&[20, 0][..], &[0; 8], &[0; 4], &size, &size].concat());
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend(extra.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(at, 0);
        bytes.extend(content);
        begins.push(at);
    }
    fs::write(path, bytes).unwrap();
    begins
}

/// The files that a process maps as code, of the engine.
fn libraries(pid: u32) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let code = maps.lines().filter(|line| line.contains(" r-xp "));
    let paths = code.filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])));
    let own = |name: &str| ["libggml", "libllama"].iter().any(|begin| name.starts_with(begin));
    paths.filter(|p| p.file_name().is_some_and(|name| own(&name.to_string_lossy()))).collect()
}

fn check(probes: &str) {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let [loader, list, apk, out] =
        ["packed.so", "list", "base.apk", "t.pfi"].map(|name| dir.path().join(name));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci/drivers/packed.c");
    let compiled = Command::new("gcc").args(["-O2", "-shared", "-fPIC", source, "-o"]).arg(&loader).status();
    assert!(compiled.unwrap().success());

    let mut engine = Command::new(bin.join("nodes"))
        .args([
            "-m",
            &model(&parts, "dense-q8"),
            "-t",
            "2",
            "-p",
            "5",
            "-n",
            "3",
            "-c",
            "512",
            "--list",
            "--pause",
        ])
        .env("LD_PRELOAD", &loader)
        .env("PACKED", &list)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(engine.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.starts_with("ready"), "{line}");

    let found = libraries(engine.id());
    assert!(found.len() >= 4, "{found:?}");
    let begins = archive(&apk, &found);
    let lines = found.iter().zip(begins).map(|(path, at)| format!("{}\t{at}\n", path.display()));
    fs::write(&list, format!("{}\n{}", apk.display(), lines.collect::<String>())).unwrap();
    signal(engine.id(), Signal::SIGUSR1);
    let begun = Instant::now();
    let unpacked = || libraries(engine.id()).iter().any(|p| found.contains(p));
    while unpacked() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the code stays mapped from its own files");
        std::thread::sleep(Duration::from_millis(10));
    }

    let mut agent = Command::new(&parts.agent)
        .args([
            "record",
            "--full",
            "--probes",
            probes,
            "--out",
            out.to_str().unwrap(),
            "--pid",
            &engine.id().to_string(),
        ])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_probes(&out);
    engine.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    assert!(wait(&mut engine) && wait(&mut agent));

    let trace = read(&out);
    let calls = parse(&said);
    assert_eq!(calls.len(), 4, "prefill and three decodes");
    check_trace(&trace, &calls, probes);
    let packed = |p: &&Probe| p.library.contains("base.apk!/lib/arm64-v8a/lib");
    let of_engine = |p: &&Probe| p.attached && p.pid != 0 && p.level != Some(Level::Sched);
    let attached: Vec<&Probe> = trace.session.probes.iter().filter(of_engine).collect();
    assert!(!attached.is_empty() && attached.iter().all(packed), "{attached:#?}");
    if probes == "direct" {
        assert!(trace.health.direct.is_some_and(|d| d.records > 0), "{:?}", trace.health.direct);
    }
}

#[test]
fn an_engine_out_of_an_archive() {
    check("uprobe");
}

#[test]
fn an_engine_out_of_an_archive_by_direct_probes() {
    check("direct");
}
