//! `analyze --metrics`: the figures served during a session equal those of the recording, as parsed
//! by Prometheus' own reader.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use profinfer_skip::needed_path;
use profinfer_trace::model::meter::{Meter, Reading};
use profinfer_trace::model::totals::Totals;
use profinfer_trace::model::{GaugeKind, GaugeUnit, Model};
use profinfer_views::open_metrics;

use crate::links::Served;
use crate::support::{parts, read};

/// Samples by name and labels.
type Samples = BTreeMap<(String, String), f64>;

/// The samples from Prometheus' own parser, which rejects invalid OpenMetrics.
fn parse(venv: &Path, text: &str) -> Samples {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../views/tests/python/read_open_metrics.py");
    let mut python = Command::new(venv.join("bin/python"))
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let samples: Vec<(String, BTreeMap<String, String>, f64)> =
        serde_json::from_slice(&output.stdout).unwrap();
    samples
        .into_iter()
        .map(|(name, labels, value)| {
            let labels: Vec<_> = labels.into_iter().map(|(k, v)| format!("{k}={v}")).collect();
            ((name.trim_start_matches("profinfer_").to_owned(), labels.join(",")), value)
        })
        .collect()
}

/// Status line and body.
fn get(port: u16, head: &str) -> (String, String) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(socket, "{head}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

fn scrape(venv: &Path, port: u16) -> Samples {
    let (status, text) = get(port, &format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}"));
    assert!(status.contains(" 200 "), "{status}");
    parse(venv, &text)
}

fn value(samples: &Samples, name: &str, labels: &str) -> f64 {
    *samples
        .get(&(name.to_owned(), labels.to_owned()))
        .unwrap_or_else(|| panic!("no {name} {labels}: {samples:#?}"))
}

/// Everything that is served is in the recording.
fn check(samples: &Samples, trace: &Model) {
    let llama_calls = &trace.llama_calls;
    for (batch, kind) in [("one", 1..=1), ("several", 2..=u32::MAX), ("unknown", 0..=0)] {
        let label = format!("batch={batch}");
        let of: Vec<usize> =
            (0..llama_calls.n_tokens.len()).filter(|i| kind.contains(&llama_calls.n_tokens[*i])).collect();
        let tokens: u64 = of.iter().map(|i| u64::from(llama_calls.n_tokens[*i])).sum();
        let ns: u64 = of.iter().map(|i| llama_calls.duration_ns[*i]).sum();
        assert_eq!(value(samples, "tokens_total", &label), tokens as f64);
        assert_eq!(value(samples, "token_call_seconds_count", &label), of.len() as f64);
        assert!((value(samples, "token_call_seconds_sum", &label) - ns as f64 / 1e9).abs() < 1e-6);
        let mut limits = 0;
        for ((name, labels), n) in samples {
            let Some(limit) = labels.strip_prefix(&format!("{label},le=")) else { continue };
            assert_eq!(name, "token_call_seconds_bucket");
            let limit: f64 = limit.parse().unwrap();
            let within = of.iter().filter(|i| llama_calls.duration_ns[**i] as f64 / 1e9 <= limit).count();
            assert_eq!(*n, within as f64, "{batch} up to {limit} s");
            limits += 1;
        }
        assert_eq!(limits, 20);
    }
    let outer: Vec<usize> =
        (0..trace.graph_calls.len()).filter(|i| trace.graph_calls.parent[*i].is_none()).collect();
    assert_eq!(value(samples, "graph_calls_total", ""), outer.len() as f64);
    let ns: u64 = outer.iter().map(|i| trace.graph_calls.duration_ns[*i]).sum();
    assert!((value(samples, "graph_seconds_total", "") - ns as f64 / 1e9).abs() < 1e-6);
    assert_eq!(value(samples, "received_total", "what=operator spans"), trace.spans.len() as f64);
    let sched = trace.health.sched_received as f64;
    assert_eq!(value(samples, "received_total", "what=scheduler events"), sched);
    assert_eq!(value(samples, "token_calls_failed_total", ""), 0.0);
    assert_eq!(value(samples, "damaged_total", ""), 0.0);
    for (reason, n, _) in trace.health.ledger.unwrap().losses() {
        let of = samples.iter().find(|((name, labels), _)| {
            name == "lost_total" && labels.ends_with(&format!("reason={}", reason.key))
        });
        assert_eq!(*of.unwrap().1, n as f64, "{}", reason.key);
    }
}

/// While the engine is stopped, nothing changes, so that the served figures can be compared with
/// those on disk.
#[test]
fn what_is_served_is_what_is_recorded() {
    let Some(parts) = parts() else { return };
    let Some(venv) = needed_path("PROFINFER_VENV", "scripts/test.sh") else { return };
    let dir = tempfile::tempdir().unwrap();
    let run = ["-n", "800", "-c", "1024", "-t", "2"];
    let Some(served) = Served::start(&parts, dir.path(), "tcp:127.0.0.1:0", &run) else { return };
    let out = dir.path().join("profile");
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_analyze"))
        .arg(format!("tcp:127.0.0.1:{}", served.port()))
        .args(["--metrics", "127.0.0.1:0", "--out"])
        .arg(&out)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(analyze.stderr.take().unwrap()).lines().map(Result::unwrap);
    let port = said.find_map(|line| {
        line.strip_prefix("metrics: http://127.0.0.1:")?.strip_suffix("/metrics")?.parse::<u16>().ok()
    });
    let port = port.unwrap();
    let begun = Instant::now();
    let calls = |samples: &Samples| value(samples, "token_call_seconds_count", "batch=one");
    while calls(&scrape(&venv, port)) < 100.0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no token call is served");
    }
    let children =
        Command::new("pgrep").args(["-P", &served.agent.id().to_string()]).output().unwrap().stdout;
    let engine = Pid::from_raw(String::from_utf8_lossy(&children).trim().parse().unwrap());
    kill(engine, Signal::SIGSTOP).unwrap();
    let stream = |samples: &Samples| {
        let names = ["received_total", "token_call_seconds_sum"];
        samples
            .iter()
            .filter(|((name, _), _)| names.contains(&name.as_str()))
            .map(|s| *s.1)
            .collect::<Vec<_>>()
    };
    let mut before = scrape(&venv, port);
    // The agent sends totals every second.
    let samples = loop {
        std::thread::sleep(Duration::from_millis(2500));
        let now = scrape(&venv, port);
        if stream(&now) == stream(&before) {
            break now;
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "a stopped engine computes");
        before = now;
    };
    check(&samples, &read(&out.join("recording.pfi")));

    // A name that was pointed at this machine, another method, another path.
    for (head, status) in [
        ("GET /metrics HTTP/1.1\r\nHost: elsewhere.example", " 403 "),
        ("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1.elsewhere.example:80", " 403 "),
        ("GET /metrics HTTP/1.1\r\nHost: localhost", " 200 "),
        ("GET /metrics HTTP/1.1\r\nHost: [::1]:9464", " 200 "),
        ("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0", " 405 "),
        ("GET / HTTP/1.1\r\nHost: localhost", " 404 "),
    ] {
        let (answer, _) = get(port, head);
        assert!(answer.contains(status), "{head}: {answer}");
    }

    kill(engine, Signal::SIGCONT).unwrap();
    said.for_each(drop);
    assert!(analyze.wait().unwrap().success());
    served.wait_until("0 lost");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it is served while the session runs");
}

/// Sensors in the units of Prometheus, and a name that must be escaped.
#[test]
fn sensors_have_base_units() {
    let Some(venv) = needed_path("PROFINFER_VENV", "scripts/test.sh") else { return };
    let name = "a \"b\" \\ c\nd} 1\n# EOF";
    let mut meter = Meter::default();
    let gauges = [
        (GaugeKind::Frequency, GaugeUnit::Hertz, Some(1_800_000_000)),
        (GaugeKind::Temperature, GaugeUnit::Millidegrees, Some(-1_500)),
        (GaugeKind::Load, GaugeUnit::Percent, Some(37)),
        (GaugeKind::Ddr, GaugeUnit::Bytes, Some(1 << 40)),
        (GaugeKind::Power, GaugeUnit::Microwatts, Some(2_500_000)),
        (GaugeKind::Load, GaugeUnit::Percent, None),
    ];
    for (id, (kind, unit, value)) in (0..).zip(gauges) {
        let name = if value.is_some() { name } else { "silent" };
        meter.gauges.insert(id, Reading { name: name.to_owned(), kind, unit, value });
    }
    let samples = parse(&venv, &open_metrics::text(meter).unwrap());
    let label = format!("sensor={name}");
    assert_eq!(value(&samples, "frequency_hertz", &label), 1.8e9);
    assert_eq!(value(&samples, "temperature_celsius", &label), -1.5);
    assert_eq!(value(&samples, "load_ratio", &label), 0.37);
    assert_eq!(value(&samples, "memory_traffic_bytes_total", &label), 1_099_511_627_776.0);
    assert_eq!(value(&samples, "power_watts", &label), 2.5);
    assert!(!samples.keys().any(|(_, labels)| labels.contains("silent")), "{samples:#?}");
}

/// No other machine on the network can read them.
#[test]
fn addresses_of_this_machine_only() {
    for (address, answer) in [("0.0.0.0:0", "network"), ("[::]:0", "network"), ("nonsense", "127.0.0.1:9464")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .args(["tcp:127.0.0.1:1", "--metrics", address, "--out"])
            .arg(tempfile::tempdir().unwrap().path().join("out"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(answer), "{said}");
    }
}
