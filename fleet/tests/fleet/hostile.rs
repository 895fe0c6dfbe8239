//! Hostile input: files that are not summaries, and queries that write.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::common::{add, counts, folders, made, one, run, tree};

fn fails(arguments: &[&str], expected: &str) {
    let output = run(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains(expected) && said.contains("help:"),
        "{arguments:?}: {said}"
    );
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn what_is_no_summary_is_refused_and_the_others_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let place = place.to_str().unwrap();
    let good = folders(&folder.path().join("good"), &[made("rk3588", 1, 1, 10.0)]);
    let mut short = made("rk3588", 1, 1, 10.0);
    short["operators"][0]["layer"] = json!("x");
    let bad = folders(&folder.path().join("bad"), &[json!([]), json!({"schema": 99, "session": {}}), short]);
    fs::write(bad[0].join("summary.json"), b"{\"schema\": 2, \xff").unwrap();
    let paths: Vec<&str> = bad.iter().chain(&good).map(|p| p.to_str().unwrap()).collect();
    let output = run(&[&["add"], &paths[..], &["--to", place, "--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(counts(&output.stdout), [1, 0, 3]);
    // One error per file, in the order of the command line.
    let errors = String::from_utf8(output.stderr).unwrap();
    let errors: Vec<Value> = errors.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tried: Vec<_> = errors.iter().map(|e| e["error"]["tried"].as_str().unwrap()).collect();
    let read = |folder: &PathBuf| format!("reading {}", folder.join("summary.json").display());
    assert_eq!(tried, bad.iter().map(read).collect::<Vec<_>>());
    fails(&["add", "/nowhere/at/all.pfi", "--to", place], "opening /nowhere/at/all.pfi");
    fails(&["add", paths[0], "--to", place], "not JSON");
    fails(&["add", paths[3], "--to", "ftp://a/b"], "ftp:// is not supported");
}

#[test]
fn hostile_values_are_rows_in_the_fleets_own_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let mut values: Vec<Value> = [
        "../../../x",
        "a/b=c",
        "%2F\u{0}\n",
        "__HIVE_DEFAULT_PARTITION__",
        "é\u{202e}",
        "'; DROP TABLE captures; --",
    ]
    .iter()
    .map(|v| made(v, 1, 1, 10.0))
    .collect();
    let mut long = made(&"x".repeat(5000), 1, 1, f64::MAX);
    long["session"]["duration_ns"] = json!(u64::MAX);
    long["engines"][0]["version"] = json!("(,)");
    long["operators"][0]["name"] = json!("\u{1b}[31m");
    values.push(long);
    let n = values.len();
    add(&folders(&folder.path().join("in"), &values), &place, &[]);
    assert_eq!(one(&place, "SELECT count(*) FROM captures"), n);
    assert_eq!(one(&place, "SELECT count(DISTINCT board) FROM captures"), n);
    assert_eq!(one(&place, "SELECT count(*) FROM captures WHERE board_name = '../../../x'"), 1);
    assert_eq!(
        tree(folder.path())
            .iter()
            .filter(|(path, _)| path.extension().is_some_and(|e| e == "parquet"))
            .count(),
        3 * n
    );
    assert!(tree(&place).len() == 3 * n, "all of them are below the place");
    // No text for people moves the cursor.
    let shown = run(&["sql", "SELECT name FROM operators", "--in", place.to_str().unwrap()]);
    assert!(shown.status.success() && !shown.stdout.contains(&0x1b));
}

#[test]
fn foreign_files_in_the_folder_are_an_error_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    add(&folders(&folder.path().join("in"), &[made("rk3588", 1, 1, 10.0)]), &place, &[]);
    let (path, bytes) = tree(&place.join("v1/captures")).remove(0);
    // Outside of a partition, or from a killed writer: not visible.
    fs::write(place.join("v1/captures/README.txt"), b"x").unwrap();
    fs::write(path.with_file_name(".x.parquet.77.part"), &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(one(&place, "SELECT count(*) FROM captures"), 1);
    for (name, bytes) in [
        ("cut", &bytes[..bytes.len() / 2]),
        ("none", &b""[..]),
        ("noise", &b"PAR1\x00\x00\x00\x00\xff\xff\xff\xffPAR1"[..]),
    ] {
        let foreign = path.with_file_name("foreign.parquet");
        fs::write(&foreign, bytes).unwrap();
        let output = run(&["sql", "SELECT sum(token_ns) FROM captures", "--in", place.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{name}: {said}");
        assert!(output.status.success() || said.contains("help:"), "{name}: {said}");
        fs::remove_file(foreign).unwrap();
    }
}

#[test]
fn only_questions_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    for query in [
        "DROP TABLE captures",
        "COPY captures TO '/tmp/x.csv'",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
        "SET a = 1",
        "SELECT",
        "",
        "SELECT 1; SELECT 2",
    ] {
        fails(&["sql", query, "--in", place], "querying the fleet");
    }
    fails(&["queries", "nothing"], "looking for the query nothing");
    assert_eq!(one(folder.path(), "SELECT count(*) FROM captures"), 0);
}
