//! The command line: its files and its errors.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::MAX_ENCODED;
use profinfer_wire::hello::Hello;
use profinfer_wire::record::session::Session;
use profinfer_wire::record::{Record, control};

const REAL: &[u8] = include_bytes!("../../tests/data/demo.pfi");
const FILES: [&str; 9] = [
    "report.html",
    "summary.json",
    "timeline.pftrace",
    "dag.json",
    "dag.dot",
    "ops.parquet",
    "tokens.parquet",
    "experts.parquet",
    "threads.parquet",
];

fn analyze(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .current_dir(folder)
        // The user who runs the tests may have profiles, and ceilings.
        .env("XDG_CONFIG_HOME", folder)
        .env("PROFINFER_CEILINGS", folder.join("ceilings"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program need not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// A folder that root cannot read either: a link to itself.
#[test]
fn profiles_that_cannot_be_looked_at_are_an_error() {
    for link in ["profinfer/boards", "profinfer/boards/cores"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        let output = analyze(folder.path(), &["boards"], b"");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("reading board profiles from"), "{link}: {said}");
    }
}

fn fails(arguments: &[&str], input: &[u8], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let output = analyze(folder.path(), arguments, input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in expected.iter().chain(&["error: ", "help: "]) {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
}

fn wrote_all(folder: &Path) {
    for name in FILES {
        assert!(folder.join("profile").join(name).metadata().is_ok_and(|m| m.len() > 0), "{name}");
    }
}

#[test]
fn what_cannot_be_watched() {
    let nowhere = "tcp:127.0.0.1:1";
    fails(&["watch", nowhere], b"", &["standard output is not", "in a terminal"]);
    fails(&["watch", "recording.pfi"], b"", &["watching recording.pfi", "not live"]);
    fails(&["watch", nowhere, nowhere], b"", &["name one agent"]);
}

#[test]
fn a_recording_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let output = analyze(folder.path(), &["-", "--csv"], REAL);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("nothing lost"), "{said}");
    wrote_all(folder.path());
    assert!(folder.path().join("profile/ops.csv").exists());
}

#[test]
fn a_cut_and_a_damaged_one_say_so_first_and_are_written() {
    for (bytes, word) in [(REAL[..REAL.len() / 2].to_vec(), "cut short"), (damaged(), "damaged")] {
        let folder = tempfile::tempdir().unwrap();
        let output = analyze(folder.path(), &["-"], &bytes);
        let said = String::from_utf8_lossy(&output.stdout);
        let first = said.split("\n\n").next().unwrap();
        assert!(output.status.success() && first.contains(word), "{said}");
        wrote_all(folder.path());
    }
}

#[test]
fn timeline_json_is_written_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile/timeline.json");
    let run = |arguments: &[&str]| assert!(analyze(folder.path(), arguments, REAL).status.success());
    run(&["-"]);
    assert!(!path.exists());
    run(&["-", "--timeline-json"]);
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let ops = events.iter().filter(|e| e["ph"] == "B" && e["args"]["tensor"].is_string()).count();
    assert_eq!(ops, profinfer_trace::read(REAL).unwrap().spans.len());
    // The file of one recording must not stay next to the views of another.
    run(&["-"]);
    assert!(!path.exists());
}

fn damaged() -> Vec<u8> {
    let mut bytes = REAL.to_vec();
    bytes.iter_mut().skip(1000).step_by(5000).for_each(|b| *b ^= 0x55);
    bytes
}

#[test]
fn inspect_works_on_a_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("d.pfi"), damaged()).unwrap();
    let output = analyze(folder.path(), &["inspect", "d.pfi"], &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    assert!(said.contains("DAMAGE") && said.contains("Session(") && said.contains("SpanBatch"));
}

#[test]
fn wrong_input_is_named() {
    let of = |wire_version| {
        Hello { wire_version, agent_version: [9, 0, 0], build: [0; 8], nonce: [0; 16] }.to_bytes()
    };
    fails(&["nothing.pfi"], &[], &["opening nothing.pfi", "No such file"]);
    fails(&["-"], &[], &["it is empty"]);
    fails(
        &["-"],
        b"some other file that is long enough to be one, for it has more than 64 bytes",
        &["does not begin"],
    );
    fails(&["-"], &of(9), &["version 9 is newer"]);
    fails(&["-"], &of(0), &["version 0 is older"]);
    let rewritten: Vec<u8> =
        REAL.iter().flat_map(|b| if *b == b'\n' { vec![b'\r', b'\n'] } else { vec![*b] }).collect();
    fails(&["-"], &rewritten, &["line ends were rewritten", "exec-out"]);
    fails(&["--board", "rk3599"], &[], &["no board profile", "rk3588"]);
    fails(&["-", "--out", "/proc/nothing"], REAL, &["making the folder /proc/nothing", "--out"]);
}

/// A newcomer's first command: a real answer from nothing.
#[test]
fn the_demo_shows_a_cause() {
    let folder = tempfile::tempdir().unwrap();
    let output = analyze(folder.path(), &["demo"], &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for words in ["gzip", "→ without it", "analyze push --help"] {
        assert!(said.contains(words), "`{words}` in: {said}");
    }
    let size = |name: &str| std::fs::metadata(folder.path().join("demo").join(name)).unwrap().len();
    // One file that can be mailed.
    assert!((50_000..1_000_000).contains(&size("report.html")), "{}", size("report.html"));
    assert!(size("recording.pfi") > 0);
    // The machine of the sample is none of the user's: only a recording of one leaves its ceilings.
    let kept = || folder.path().join("ceilings").exists();
    assert!(!kept());
    assert!(analyze(folder.path(), &["demo/recording.pfi"], &[]).status.success());
    assert!(kept());
}

/// On a full disk the answer is printed, and the report written: the large files come last.
#[test]
fn a_full_disk_costs_the_large_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=1200k", "small"];
    let mounted = Command::new("mount").args(mount).arg(&small).stderr(Stdio::null()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return profinfer_skip::skip("a small file system cannot be mounted here");
    }
    let out = small.join("out");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/sample.pfi");
    let output = analyze(folder.path(), &[sample.to_str().unwrap(), "--out", out.to_str().unwrap()], &[]);
    let report = std::fs::metadata(out.join("report.html")).map_or(0, |m| m.len());
    let _ = Command::new("umount").arg(&small).status();
    let (said, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && said.contains("gzip"), "{said}{error}");
    for words in ["No space left", "free space"] {
        assert!(error.contains(words), "`{words}` in: {error}");
    }
    assert!(report > 50_000, "{report}: {error}");
}

/// What users give by mistake, each with what it is and what to do.
#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = path("model.gguf", b"GGUF\x03\0\0\0\0\0\0\0");
    let page = path("report.html", b"<!doctype html>\n<title>x</title>");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = folder.path().join("empty").to_str().unwrap().to_owned();
    let _other = path("empty/monday.pfi", b"");
    for (arguments, words) in [
        (&[model.as_str()][..], &["this is a model (GGUF), not a recording", "predict"][..]),
        (&["inspect", &model], &["this is a model (GGUF)"]),
        (&[&page], &["this is a web page", "recording.pfi in the same folder"]),
        (&[&empty], &["opening the folder", "it has no recording.pfi", "monday.pfi"]),
        (&["comapre"], &["no such command", "did you mean `analyze compare`?"]),
        (&["wacth"], &["did you mean `analyze watch`?"]),
        (&["bench.pfi"], &["No such file"]),
        (&["127.0.0.1:7817"], &["no such file", "analyze tcp:127.0.0.1:7817"]),
        (&["http://127.0.0.1:7817/"], &["analyze tcp:127.0.0.1:7817"]),
        (&["tcp:127.0.0.1"], &["a port from 1 to 65535 is missing", "tcp:127.0.0.1:7817"]),
        (&["tcp:127.0.0.1:99999"], &["a port from 1 to 65535 is missing"]),
    ] {
        fails(arguments, &[], words);
    }
}

/// Something else than an agent listens at the port: it says so within a few seconds.
#[test]
fn a_port_of_another_program_is_named() {
    let with = |answer: fn(&mut std::net::TcpStream), words: &[&str]| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = format!("tcp:{}", listener.local_addr().unwrap());
        let other = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            answer(&mut socket);
            // Until the other side gives up.
            let _ = std::io::copy(&mut socket, &mut std::io::sink());
        });
        fails(&[&source, "--wait", "1"], &[], words);
        other.join().unwrap();
    };
    with(
        |s| s.write_all(b"SSH-2.0-x\r\n").unwrap(),
        &["no answer within 3 s; it says `SSH-2.0-x`", "ss -ltnp"],
    );
    with(|_| (), &["waiting for the agent", "no answer within 3 s", "profinfer-agent serve"]);
    with(
        |s| s.write_all(&[b"HTTP/1.1 400 Bad Request\r\n".as_slice(), &[b'x'; 200]].concat()).unwrap(),
        &["does not begin", "HTTP/1.1 400 Bad Request"],
    );
    let closes: fn(&mut std::net::TcpStream) = |s| s.shutdown(std::net::Shutdown::Write).unwrap();
    with(closes, &["closed the connection", "a forwarded port without an agent"]);
}

#[test]
fn a_refused_port_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let source = format!("tcp:127.0.0.1:{port}");
    fails(&[&source, "--wait", "0"], &[], &["connecting to the agent", "refused", "profinfer-agent serve"]);
}

/// An agent that answers a plan with `bytes`. Returns the plan's board and levels, and the
/// requested counters and gauges.
fn serve(listener: &TcpListener, bytes: &[u8]) -> (String, u32, Vec<String>, Vec<String>) {
    let (mut socket, _) = listener.accept().unwrap();
    let (mut accumulator, mut plan, mut buffer) = (Accumulator::new(), None, [0; 512]);
    let (mut requests, mut gauges) = (Vec::new(), Vec::new());
    'plan: loop {
        let n = socket.read(&mut buffer).unwrap();
        assert!(n > 0, "it sends a plan and a start");
        let mut input = &buffer[..n];
        while !input.is_empty() {
            if let Some(Found::Frame(frame)) = accumulator.feed(&mut input) {
                match Record::decode(&frame).unwrap() {
                    Record::Plan(p) => plan = Some((p.board.to_owned(), p.levels)),
                    Record::CounterRequest(w) => {
                        requests.push(format!("{} {:#x} {:#x}", w.name, w.event, w.midr));
                    }
                    Record::GaugeRequest(w) => {
                        gauges.push(format!("{} {} {:?}", w.name, w.period_ms, w.unit))
                    }
                    // Cheap by default.
                    Record::CaptureRequest(w) => assert_eq!(w.max_slowdown_ppm, 30_000),
                    Record::Start(_) => break 'plan,
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    socket.write_all(bytes).unwrap();
    let (board, levels) = plan.unwrap();
    (board, levels, requests, gauges)
}

#[test]
fn a_live_session_is_kept_and_analysed() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp:{}", listener.local_addr().unwrap());
    let agent = std::thread::spawn(move || serve(&listener, REAL));
    let output =
        analyze(folder.path(), &["--board", "RK3588", "--force-board", "--levels", "token,op", &source], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (board, levels, requests, _) = agent.join().unwrap();
    assert_eq!((&*board, levels), ("rk3588", control::level::TOKEN | control::level::OP));
    // The default set on both core types, then page faults.
    assert_eq!(requests.len(), 2 * 7 + 2);
    assert_eq!(requests[3], "L3D_CACHE_REFILL 0x2a 0x4100d050");
    assert_eq!(requests[7], "CPU_CYCLES 0x11 0x4100d0b0");
    assert_eq!(requests[14..], ["minor-faults 0x0 0x0", "major-faults 0x0 0x0"]);
    wrote_all(folder.path());
    assert_eq!(std::fs::read(folder.path().join("profile/recording.pfi")).unwrap(), REAL);
}

#[test]
fn a_refusing_agent_is_quoted() {
    let (tried, answer, help) = ("loading", "not permitted", "run it as root");
    let record = Record::Refused2(control::Refused2 { tried, answer, help });
    let mut frame = [0; MAX_ENCODED];
    let frame = record.encode_frame(0, &mut frame).unwrap();
    let hello = Hello { wire_version: 1, agent_version: [0, 1, 0], build: [0; 8], nonce: [0; 16] };
    let stream = [&hello.to_bytes()[..], frame].concat();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp:{}", listener.local_addr().unwrap());
    let agent = std::thread::spawn(move || serve(&listener, &stream));
    fails(&[&source], &[], &["on the board, loading", "not permitted", "run it as root"]);
    agent.join().unwrap();
}

#[test]
fn help_and_boards() {
    let folder = tempfile::tempdir().unwrap();
    let help = analyze(folder.path(), &["--help"], &[]);
    let said = String::from_utf8_lossy(&help.stdout);
    assert!(
        help.status.success()
            && ["--board", "inspect", "boards", "--levels"].iter().all(|w| said.contains(w)),
        "{said}"
    );
}

#[test]
fn gauges_are_the_boards_or_those_of_many_kernels() {
    let generic = ["CPU frequency 100 Hertz", "temperature 100 Millidegrees"];
    let rk3568 = [
        "CPU frequency 20 Hertz",
        "temperature 20 Millidegrees",
        "memory traffic 20 Bytes",
        "memory traffic 20 Bytes",
    ];
    for (arguments, expected) in [
        (&[][..], &generic[..]),
        (&["--board", "host"], &generic),
        (&["--board", "rk3568", "--force-board", "--sample-hz", "50"], &rk3568),
        (&["--board", "rk3568", "--force-board", "--sample-hz", "0"], &[]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = format!("tcp:{}", listener.local_addr().unwrap());
        let agent = std::thread::spawn(move || serve(&listener, REAL));
        let output = analyze(folder.path(), &[arguments, &[&source]].concat(), &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(agent.join().unwrap().3, expected, "{arguments:?}");
    }
}

#[test]
fn counters_are_the_boards_or_the_users() {
    for (arguments, expected) in [
        (&["--board", "rk3588", "--force-board", "--counters", "none"][..], &[][..]),
        (&[], &[]),
        (&["--board", "host"], &["minor-faults 0x0 0x0", "major-faults 0x0 0x0"]),
        (
            &["--board", "rk3588", "--force-board", "--counters", "L3D_CACHE_REFILL,minor-faults"],
            &["L3D_CACHE_REFILL 0x0 0xff00fff0", "minor-faults 0x0 0x0"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = format!("tcp:{}", listener.local_addr().unwrap());
        let agent = std::thread::spawn(move || serve(&listener, REAL));
        let output = analyze(folder.path(), &[arguments, &[&source]].concat(), &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(agent.join().unwrap().2, expected, "{arguments:?}");
    }
    let unreachable = "tcp:127.0.0.1:1";
    let unknown = ["--board", "rk3588", "--counters", "memry", unreachable];
    fails(&unknown, &[], &["no counter set `memry`", "memory", "analyze boards rk3588"]);
}

#[test]
fn boards_are_listed_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str]| {
        let output = analyze(folder.path(), arguments, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let list = said(&["boards"]);
    for words in ["rk3588 ", "4 cortex-a55, 4 cortex-a76", "generic-aarch64", "any of cortex-a55"] {
        assert!(list.contains(words), "`{words}` in: {list}");
    }
    let board = said(&["boards", "rk3588"]);
    for words in [
        "34.1 GB/s in theory  [arithmetic: ",
        "25.0 GB/s: decoding with llama.cpp",
        "CPU 4-5   cortex-a76, up to 2400 MHz",
        "set memory (default)",
        "0x002a L3D_CACHE_REFILL           lines of 64 B",
        "PMU rockchip_ddr",
        "GUID c9bdb702-4936-4212-af35-a287d8c92920",
        "19 to 66 % faster",
    ] {
        assert!(board.contains(words), "`{words}` in: {board}");
    }
    assert!(said(&["boards", "host"]).contains("page faults only"));
    fails(&["boards", "rk3599"], &[], &["no board profile `rk3599`", "Known profiles: rk3568, rk3588"]);
}

/// The demo is of an x86-64 machine.
#[test]
fn a_board_of_another_machine_is_refused() {
    let words = ["board profile `rk3588`", "aarch64", "x86_64", "--force-board"];
    fails(&["--board", "orange pi 5", "-"], REAL, &words);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp:{}", listener.local_addr().unwrap());
    let agent = std::thread::spawn(move || serve(&listener, REAL));
    fails(&["--board", "rk3588", &source], &[], &words);
    agent.join().unwrap();
    let board = |arguments: &[&str], input: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let output = analyze(folder.path(), arguments, input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let summary = std::fs::read(folder.path().join("profile/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        summary["session"]["board"].clone()
    };
    assert_eq!(board(&["-"], REAL), "host");
    assert_eq!(board(&["--board", "rk3588", "--force-board", "-"], REAL), "rk3588");
    fails(&["--board", "rasberry pi 5", "-"], REAL, &["Did you mean `Raspberry Pi 5` (profile bcm2712)?"]);
}

/// Session records of other machines.
#[test]
fn a_board_is_recognised() {
    for (machine, cpu_model, recorded, found) in [
        ("aarch64", "Raspberry Pi 5 Model B Rev 1.0", "generic-aarch64", "bcm2712"),
        ("aarch64", "Xunlong Orange Pi 5 Plus", "", "rk3588"),
        ("aarch64", "Raspberry Pi 4 Model B Rev 1.4", "generic-aarch64", "generic-aarch64"),
        // Named in the capture: the person knows better.
        ("aarch64", "Raspberry Pi 5 Model B Rev 1.0", "qemu-a76", "qemu-a76"),
        ("aarch64", "Raspberry Pi 4 Model B Rev 1.4", "rk3588", "rk3588"),
        // Wrong names.
        ("x86_64", "Intel(R) Xeon(R) Processor", "rk3588", ""),
        ("aarch64", "Raspberry Pi 5 Model B Rev 1.0", "rk3588", "bcm2712"),
        ("x86_64", "A copy of Raspberry Pi 5", "host", "host"),
    ] {
        let record = Record::Session(Session {
            wire_version: 1,
            agent: "0.1.0",
            kernel: "6.12.0",
            machine,
            cpu_model,
            board: recorded,
            cpus: 4,
            levels: 1,
            start_ns: 0,
            start_unix_ns: 0,
        });
        let mut frame = [0; MAX_ENCODED];
        let hello = Hello { wire_version: 1, agent_version: [0, 1, 0], build: [0; 8], nonce: [0; 16] };
        let stream = [&hello.to_bytes()[..], record.encode_frame(0, &mut frame).unwrap()].concat();
        let folder = tempfile::tempdir().unwrap();
        let output = analyze(folder.path(), &["-"], &stream);
        let said = String::from_utf8_lossy(&output.stderr);
        let summary = std::fs::read(folder.path().join("profile/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        assert_eq!(summary["session"]["board"].as_str().unwrap_or_default(), found, "{cpu_model}: {said}");
        let wrong = !["", "generic-aarch64", "host", found].contains(&recorded);
        assert_eq!(said.contains("note: "), wrong, "{said}");
        // Named for the analysis, it is refused.
        let output = analyze(folder.path(), &["--board", "rk3588", "-"], &stream);
        let said = String::from_utf8_lossy(&output.stderr);
        let refused = machine == "x86_64" || found == "bcm2712" || found == "qemu-a76";
        assert_eq!(said.contains("--force-board"), refused, "{cpu_model}: {said}");
    }
}

#[test]
fn boards_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let configured = folder.path().join("profinfer/boards");
    let named = folder.path().join("named");
    std::fs::create_dir_all(&configured).unwrap();
    std::fs::create_dir_all(named.join("cores")).unwrap();
    let board = |name: &str, core: &str, set: &str| {
        format!(
            "name = \"{name}\"\ndescription = \"Of {core}\"\nsoc = \"X\"\nmachine = \"aarch64\"\nlevels = [\"token\"]\n\
             cores = [\"{core}\"]\ncounter_set = \"{set}\"\nprovenance = \"vendor: x\"\n"
        )
    };
    std::fs::write(configured.join("mine.toml"), board("mine", "cortex-a76", "cache")).unwrap();
    std::fs::write(configured.join("README"), "no profile").unwrap();
    let said = |arguments: &[&str]| {
        let output = analyze(folder.path(), arguments, &[]);
        let err = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap(), err)
    };
    assert!(said(&["boards", "mine"]).1.contains("set cache (default)"));
    // A profile of another folder replaces it, with a note; its core is a separate one.
    std::fs::write(named.join("mine.toml"), board("mine", "special", "few")).unwrap();
    let core = "name = \"special\"\ndescription = \"d\"\nmidr = 0x41001230\ncounters = 1\nprovenance = \"vendor: x\"\n\
                [[sets]]\nname = \"few\"\ndescription = \"d\"\nevents = [\"E\"]\n\
                [[events]]\nname = \"E\"\nnumber = 1\nunit = \"count\"\nmeaning = \"An event of my own.\"\n\
                [[events]]\nname = \"CPU_CYCLES\"\nnumber = 17\nunit = \"cycles\"\nmeaning = \"Cycles.\"\n";
    std::fs::write(named.join("cores/special.toml"), core).unwrap();
    let (fine, out, err) = said(&["boards", "mine", "--boards", "named"]);
    assert!(fine && out.contains("An event of my own."), "{out}{err}");
    assert!(err.contains("board `mine` comes from named/mine.toml"), "{err}");
    // The error of a wrong profile: file, line, allowed values. It does not prevent reading a
    // recording.
    std::fs::write(configured.join("mine.toml"), board("mine", "cortex-a7", "cache")).unwrap();
    let (fine, _, err) = said(&["boards"]);
    assert!(!fine && err.contains("mine.toml, line 6: there is no core `cortex-a7`"), "{err}");
    assert!(err.contains("cortex-a76") && err.contains("docs/board-profiles.md"), "{err}");
    assert!(analyze(folder.path(), &["-"], REAL).status.success());
    std::fs::remove_file(configured.join("mine.toml")).unwrap();
    let (fine, _, err) = said(&["boards", "--boards", "nowhere"]);
    assert!(
        !fine && err.contains("reading board profiles from nowhere") && err.contains("--boards"),
        "{err}"
    );
}

/// Two published recordings: another model is refused with its own exit status, and a recording is
/// not compared with itself.
#[test]
fn comparisons_of_other_work_and_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let published = |name: &str| {
        let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        format!("{root}/../tests/data/published/2026-11-23/{name}.pfi")
    };
    let (dense, routed) = (published("dense-q8"), published("moe-mixtral8"));
    std::fs::write(folder.path().join("demo.pfi"), REAL).unwrap();
    let output = analyze(folder.path(), &["compare", &dense, &routed, "--warm-up", "0"], b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("Not comparable") && said.contains("weights of the model"), "{said}");
    let json = std::fs::read(folder.path().join("comparison/compare.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&json["verdict"]["code"], &json["same_work"]), (&"different_work".into(), &false.into()));
    assert!(json["rows"].as_array().unwrap().is_empty() && json["change"].is_null());
    assert!(folder.path().join("comparison/compare.html").exists());

    fails(
        &["compare", &dense, &dense, "--warm-up", "0"],
        b"",
        &["it is the same recording as", "pass each recording only once"],
    );
    fails(&["compare", "nowhere.pfi", &dense], b"", &["opening nowhere.pfi"]);
    fails(&["compare", ".", &dense], b"", &["looking for recordings in .", "the folder contains none"]);
    fails(
        &["compare", &dense, &routed, "--warm-up", "100000"],
        b"",
        &["decode tokens", "record runs that generate more"],
    );
    let output = analyze(folder.path(), &["compare", &dense, &routed, "--fail-if", "slower=2"], b"");
    assert!(
        !output.status.success()
            && String::from_utf8_lossy(&output.stderr).contains("give a percentage like 2%")
    );
}

/// `analyze` alone in a folder, as in a release.
fn alone(folder: &Path, path: &Path, arguments: &[&str]) -> Output {
    let own = folder.join("analyze");
    if !own.exists() {
        std::fs::hard_link(env!("CARGO_BIN_EXE_analyze"), &own)
            .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_analyze"), &own).map(drop))
            .unwrap();
    }
    Command::new(own).env("PATH", path).env_remove("PROFINFER_ANALYZE").args(arguments).output().unwrap()
}

#[test]
fn fleet_is_a_program_beside_it_or_in_path() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = alone(folder.path(), path.path(), &["fleet", "sql", "SELECT 1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("running analyze-fleet"), "{said}");
    assert!(said.contains("help:") && said.contains("PATH"), "{said}");
    // Its help is not there either, but what it is and where it comes from.
    let output = alone(folder.path(), path.path(), &["fleet", "--help"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("profinfer-analyze-fleet"), "{said}");
    for (place, name) in [(path.path(), "in PATH"), (folder.path(), "beside")] {
        let program = place.join("analyze-fleet");
        // By their full path: PATH has nothing else.
        std::fs::write(&program, format!("#!/bin/sh\necho \"{name}:$PROFINFER_ANALYZE:$*\"\nexit 7\n"))
            .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let output = alone(folder.path(), path.path(), &["fleet", "add", "--help", "-x", "--to", "a b"]);
        let expected = format!("{name}:{}:add --help -x --to a b\n", folder.path().join("analyze").display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        assert_eq!(output.status.code(), Some(7), "its status is that of the command");
    }
}

#[test]
fn only_what_is_asked_for_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.pfi"), REAL).unwrap();
    let output = analyze(folder.path(), &["--only", "summary.json,dag.json", "r.pfi"], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut names: Vec<_> = std::fs::read_dir(folder.path().join("profile"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["dag.json", "summary.json"]);
    let output = analyze(folder.path(), &["--only", "nothing.json", "r.pfi"], b"");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("summary.json"));
}

/// A file that is not a profile, and one for a missing recording, are refused with a remedy;
/// recordings are compared side by side.
#[test]
fn accelerator_profiles() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    let at = |name: &str| data.join(name).display().to_string();
    let (demo, recording) = (at("demo.pfi"), at("accelerator/lavapipe.pfi"));
    let numbered = |n: u32| format!("{n}={}", at("accelerator/lavapipe.log"));
    let wanted = ["not a profile of a supported backend", "docs/accelerators.md"];
    fails(&[&recording, "--accelerator-profile", &recording], b"", &wanted);
    let (second, none) = (numbered(2), numbered(0));
    fails(
        &["backends", &recording, "--accelerator-profile", &second],
        b"",
        &["recording 2", "the command line has 1"],
    );
    let folder = tempfile::tempdir().unwrap();
    let output = analyze(folder.path(), &["backends", &recording, "--accelerator-profile", &none], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("counted from 1"), "{output:?}");
    let output =
        analyze(folder.path(), &["backends", &demo, &recording, "--accelerator-profile", &second], b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("2 Vulkan"), "{said}");
    let json = std::fs::read(folder.path().join("backends/backends.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["recordings"][1]["profiles"][0]["unjoined"]["kernels"], 0);
}
