//! Messages about faulty profiles: file, line, and what is allowed.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use profinfer_boards::{BoardError, Catalog};

const BOARD: &str = include_str!("../rk3588.toml");
const CORE: &str = include_str!("../cores/cortex-a76.toml");
const BACKEND: &str = include_str!("../backends/rknn.toml");

/// `text` with `from` replaced by `to` is wrong in that line, and the message has all `words`.
fn wrong_at(path: &str, text: &str, from: &str, to: &str, at: Option<&str>, words: &[&str]) {
    assert!(text.contains(from), "`{from}` is not in {path}: the test is out of date");
    let text = text.replacen(from, to, 1);
    let at = text.find(at.unwrap_or(to)).unwrap();
    let expected = text[..at].matches('\n').count() + 1;
    let files = [(path.to_owned(), text)];
    let e = Catalog::shipped().unwrap().with_folder(files.into_iter()).unwrap_err();
    let message = e.to_string();
    let BoardError::File { path: in_file, line, .. } = e else { panic!("{message}") };
    assert_eq!((&*in_file, line), (path, expected), "{message}");
    assert!(message.starts_with(&format!("{path}, line {expected}: ")), "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` in: {message}");
    }
}

fn board(from: &str, to: &str, words: &[&str]) {
    wrong_at("/mine/rk3588.toml", BOARD, from, to, None, words);
}

fn core(from: &str, to: &str, words: &[&str]) {
    wrong_at("/mine/cores/cortex-a76.toml", CORE, from, to, None, words);
}

fn backend(from: &str, to: &str, at: &str, words: &[&str]) {
    wrong_at("/mine/backends/rknn.toml", BACKEND, from, to, Some(at), words);
}

#[test]
fn names_that_are_not_known() {
    board("soc =", "sock =", &["unknown field `sock`", "`soc`", "`levels`"]);
    board("max_khz =", "khz =", &["unknown field `khz`", "`max_khz`"]);
    board("core = \"cortex-a55\"", "core = \"cortex-a5\"", &["no core `cortex-a5`", "cortex-a55"]);
    board("backends = [\"rknn\"", "backends = [\"rkn\"", &["no backend `rkn`", "nearest: rknn"]);
    board("counter_set = \"memory\"", "counter_set = \"memroy\"", &["no set `memroy`", "known: memory, "]);
    board("[\"token\", ", "[\"tokens\", ", &["no level `tokens`", "token, graph, op"]);
    board("kind = \"load\"", "kind = \"lode\"", &["`lode`", "`frequency`", "`load`"]);
    board("parse = \"rknpu-load\"", "parse = \"npu\"", &["`npu`", "`rknpu-load`"]);
    core(
        "\"L3D_CACHE_REFILL\", \"L2D",
        "\"L3D_CACHE_REFIL\", \"L2D",
        &["no event `L3D_CACHE_REFIL`", "`cortex-a76`", "nearest: L3D_CACHE_REFILL"],
    );
    // On the A78 alone.
    core(
        "\"STALL_BACKEND\", \"L3D",
        "\"STALL_BACKEND_MEM\", \"L3D",
        &["`cortex-a76` has no event `STALL_BACKEND_MEM`"],
    );
    core("unit = \"cycles\"", "unit = \"ticks\"", &["`ticks`", "`count`", "`cycles`", "`bytes`"]);
}

#[test]
fn text_that_is_no_toml() {
    board("soc = \"", "soc = ", &[]);
    board("levels = [", "levels = {", &[]);
}

#[test]
fn cpus() {
    for (list, why) in
        [("3-0", "descending"), ("a", "`a` is not a number"), ("0-9999", "beyond CPU"), ("", "not a number")]
    {
        board("cpus = \"0-3\"", &format!("cpus = \"{list}\""), &["is not a list of CPUs", why, "`0-3`"]);
    }
    board("cpus = \"4-5\"", "cpus = \"3-5\"", &["CPU 3 is in two clusters", "in line 14"]);
}

#[test]
fn provenance() {
    let message = ["kinds: kernel, vendor, measured, arithmetic, paper, thread"];
    board("provenance = \"kernel: rk3588-base.dtsi\"", "provenance = \"rk3588-base.dtsi\"", &message);
    board("provenance = \"kernel: rk3588-base.dtsi\"", "provenance = \"hearsay: x\"", &message);
    board("provenance = \"kernel: rk3588-base.dtsi\"", "provenance = \"kernel: \"", &message);
    // Without any, the section is named.
    let cluster = "l2_bytes = 131_072\nprovenance = \"kernel: rk3588-base.dtsi\"\n";
    let at = Some("[[clusters]]");
    wrong_at("rk3588.toml", BOARD, cluster, "l2_bytes = 131_072\n", at, &["missing field `provenance`"]);
    let caches = "line_bytes = 64\nprovenance = \"kernel: rk3588-base.dtsi\"\n";
    wrong_at(
        "rk3588.toml",
        BOARD,
        caches,
        "line_bytes = 64\n",
        Some("[caches]"),
        &["missing field `provenance`"],
    );
}

#[test]
fn sets_that_cannot_be_counted() {
    let seven = "events = [\"BR_PRED\", \"INST_RETIRED\",";
    core(
        "events = [\"INST_RETIRED\",",
        seven,
        &["has 7 events", "1 to 6 at the same time", "in addition to CPU_CYCLES"],
    );
    core(
        "events = [\"INST_RETIRED\",",
        "events = [\"CPU_CYCLES\",",
        &["counted with every set", "leave it out"],
    );
    core("\"STALL_BACKEND\", \"L3D", "\"INST_RETIRED\", \"L3D", &["`INST_RETIRED` is listed twice"]);
    core("name = \"stalls\"", "name = \"memory\" ", &["the set `memory` is defined twice", "first in line"]);
}

#[test]
fn events_that_contradict() {
    let at = |n: &str| format!("name = \"{n}\"");
    for (from, to, header, words) in [
        (at("L1D_CACHE"), at("L1D_CACHE_REFILL"), "number = 0x04", "`L1D_CACHE_REFILL` is defined twice"),
        ("number = 0x04".to_owned(), "number = 0x03 ".to_owned(), "number = 0x03 ", "0x3 is defined twice"),
        (
            "bytes_per_count = 64\n".to_owned(),
            String::new(),
            "number = 0x03",
            "bytes_per_count need each other",
        ),
    ] {
        // The position is the complete event: its header's line, two above its number.
        let text = CORE.replacen(&from, &to, 1);
        let line = text[..text.find(header).unwrap()].matches('\n').count() - 1;
        let files = [("cores/cortex-a76.toml".to_owned(), text)];
        let message = Catalog::shipped().unwrap().with_folder(files.into_iter()).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains(&format!("line {line}:")), "{line}: {message}");
    }
    let midr = "midr 0x410fd0b1 is not MIDR_EL1 & 0xff00fff0";
    wrong_at("cores/cortex-a76.toml", CORE, "0x4100d0b0", "0x410fd0b1", Some("name"), &[midr]);
    let same = "`cortex-a76` have the same midr";
    wrong_at("cores/cortex-a76.toml", CORE, "0x4100d0b0", "0x4100d050", Some("name"), &[same]);
}

#[test]
fn names_that_are_there_twice() {
    let file = |path: &str| (path.to_owned(), BOARD.to_owned());
    let twice = [file("a/rk3588.toml"), file("b/rk3588.toml")];
    let e = Catalog::shipped().unwrap().with_folder(twice.into_iter()).unwrap_err().to_string();
    assert!(
        e.starts_with("b/rk3588.toml, line 1: ") && e.contains("another file has the name `rk3588`"),
        "{e}"
    );
    let other = Catalog::shipped().unwrap().with_folder([file("a/other.toml")].into_iter());
    let e = other.unwrap_err().to_string();
    assert!(e.contains("a/other.toml") && e.contains("`rk3588`, but the file is called `other.toml`"), "{e}");
}

#[test]
fn sensors_that_cannot_be_read() {
    let npu = "path = \"/sys/kernel/debug/rknpu/load\"\n";
    let at = Some("[[uncore]]\nname = \"NPU load\"");
    let wrong = |from: &str, to: &str, words: &str| wrong_at("rk3588.toml", BOARD, from, to, at, &[words]);
    wrong(npu, "", "give either `path` or `pmu`");
    wrong(npu, "path = \"sys/x\"\n", "must begin with `/`");
    wrong("parse = \"rknpu-load\"\n", "", "`parse` must name");
    wrong(
        "unit = \"percent\"\nparse = \"rknpu-load\"",
        "unit = \"hertz\"\nparse = \"rknpu-load\"",
        "does not match `parse`",
    );
    let ddr = "events = [\"read-bytes\", \"write-bytes\"]\n";
    let at = Some("[[uncore]]\nname = \"memory traffic\"");
    wrong_at("rk3588.toml", BOARD, ddr, "", at, &["name the `events`"]);
}

#[test]
fn probes_that_cannot_be_read() {
    let header = "[[probes]]\nsymbol = \"ggml_rk_mul_mat\"";
    backend(
        "tensor = 4",
        "tensor = 0",
        header,
        &["tensor = 0 is `int * pt_npu_core_mask`", "`ggml_tensor *`"],
    );
    backend("tensor = 4", "tensor = 6", header, &["has 6 arguments, counted from 0"]);
    backend("tensor = 4", "whole = true", header, &["`whole = true` needs", "`tensor`"]);
    let guid = "c9bdb702-4936-4212-af35-a287d8c9292";
    backend("c9bdb702-4936-4212-af35-a287d8c92920", guid, guid, &["is not a GUID", "8-4-4-4-12"]);
}

#[test]
fn boards_without_cores() {
    let text = "name = \"x\"\ndescription = \"d\"\nsoc = \"s\"\nmachine = \"m\"\nlevels = []\nprovenance = \"vendor: x\"\n";
    let read = |more: &str| {
        let files = [("x.toml".to_owned(), format!("{text}{more}"))];
        Catalog::shipped().unwrap().with_folder(files.into_iter())
    };
    let message = |more: &str| read(more).unwrap_err().to_string();
    assert!(message("").contains("give [[clusters]], or `cores`"));
    assert!(message("cores = [\"*\"]").contains("name the default `counter_set`; known:"));
    assert!(
        message("cores = [\"x86-64\"]\ncounter_set = \"memory\"")
            .contains("no core of this board has hardware counters")
    );
    let cluster = "[[clusters]]\ncore = \"x86-64\"\ncpus = \"0\"\nprovenance = \"vendor: x\"\n";
    assert!(
        message(&format!("cores = [\"x86-64\"]\n{cluster}")).contains("give either [[clusters]] or `cores`")
    );
    assert!(read(cluster).is_ok());
}

#[test]
fn sets_without_a_common_order() {
    // Any two of three cores share one event, and each counts two: no slots suit all.
    let core = |name: &str, midr: u32, events: [(&str, u32); 2]| {
        let event = |(name, number): (&str, u32)| {
            format!("[[events]]\nname = \"{name}\"\nnumber = {number}\nunit = \"count\"\nmeaning = \"m\"\n")
        };
        let [(a, _), (b, _)] = events;
        let text = format!(
            "name = \"{name}\"\ndescription = \"d\"\nmidr = {midr}\ncounters = 2\nprovenance = \"vendor: x\"\n\
             [[sets]]\nname = \"s\"\ndescription = \"d\"\nevents = [\"{a}\", \"{b}\"]\n{}{}{}",
            event(events[0]),
            event(events[1]),
            event(("CPU_CYCLES", 17))
        );
        (format!("cores/{name}.toml"), text)
    };
    let board = "name = \"x\"\ndescription = \"d\"\nsoc = \"s\"\nmachine = \"m\"\nlevels = []\ncounter_set = \"s\"\n\
                 cores = [\"p\", \"q\", \"r\"]\nprovenance = \"vendor: x\"\n";
    let (a, b, c) = (("A", 1), ("B", 2), ("C", 3));
    let files = |third: [(&'static str, u32); 2]| {
        let mut catalog = Catalog::shipped().unwrap();
        let cores = [core("p", 0x10, [a, b]), core("q", 0x20, [b, c]), core("r", 0x30, third)];
        let board = ("x.toml".to_owned(), board.to_owned());
        catalog.with_folder(cores.into_iter().chain([board]))
    };
    let message = files([c, a]).unwrap_err().to_string();
    assert!(message.contains("the sets `s` of p, q, r cannot be counted together"), "{message}");
    // With another third core there is space. Boards that accept every core skip these, which have
    // only their own sets.
    assert!(files([c, ("D", 4)]).is_ok());
}
