//! Results of SQL equal the sums over the single summaries.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::common::{add, one, real, rows};

fn sum(summaries: &[&Value], list: &str, field: &str, only: &dyn Fn(&Value) -> bool) -> i64 {
    let all =
        summaries.iter().flat_map(|s| s.pointer(list).unwrap().as_array().unwrap()).filter(|row| only(row));
    all.filter_map(|row| row.pointer(field).unwrap().as_i64()).sum()
}

#[test]
fn sums_of_sql_are_the_sums_of_the_recordings() {
    let Some(real) = real() else { return };
    let fleet = tempfile::tempdir().unwrap();
    let place = fleet.path();
    let recordings = real.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(add(&recordings, place, &[]), [real.len() as u64, 0, 0]);
    let summaries: Vec<&Value> = real.iter().map(|(_, summary)| summary).collect();

    assert_eq!(one(place, "SELECT count(*) FROM captures"), real.len());
    for field in ["executions", "wall_ns", "work_ns", "wait_ns"] {
        let all = sum(&summaries, "/operators", &format!("/{field}"), &|_| true);
        assert_eq!(one(place, &format!("SELECT sum({field}) FROM operators")), all, "{field}");
    }
    for field in ["read_bytes", "weight_bytes", "operations"] {
        let all = sum(&summaries, "/operators", &format!("/work/{field}"), &|_| true);
        assert!(all > 0 && one(place, &format!("SELECT sum({field}) FROM operators")) == all, "{field}");
    }
    let decode =
        sum(&summaries, "/operators", "/wall_ns", &|o| o["phase"] == "decode" && o["op"] == "MUL_MAT");
    assert_eq!(
        one(place, "SELECT sum(wall_ns) FROM operators WHERE phase = 'decode' AND op = 'MUL_MAT'"),
        decode
    );
    let (spans, calls) = summaries.iter().fold((0, 0), |(spans, calls), s| {
        (
            spans + s["health"]["spans"]["received"].as_i64().unwrap(),
            calls + s["tokens"]["decode"]["calls"].as_i64().unwrap(),
        )
    });
    assert_eq!(one(place, "SELECT sum(spans_received) FROM captures"), spans);
    assert_eq!(one(place, "SELECT sum(decode_calls) FROM captures"), calls);

    let mut verdicts: BTreeMap<String, i64> = BTreeMap::new();
    for verdict in ["found", "ruled_out", "noisy", "not_known"] {
        let n: usize = summaries.iter().map(|s| s["findings"][verdict].as_array().unwrap().len()).sum();
        verdicts.insert(verdict.to_owned(), n as i64);
    }
    verdicts.retain(|_, n| *n > 0);
    let answer = rows(place, "SELECT verdict, count(*) AS n FROM findings GROUP BY verdict");
    let answer: BTreeMap<String, i64> = answer
        .iter()
        .map(|r| (r["verdict"].as_str().unwrap().to_owned(), r["n"].as_i64().unwrap()))
        .collect();
    assert_eq!(answer, verdicts);
}

#[test]
fn each_capture_has_its_own_headline_and_model() {
    let Some(real) = real() else { return };
    let fleet = tempfile::tempdir().unwrap();
    add(
        &real.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>(),
        fleet.path(),
        &["--device", "bench-1"],
    );
    let answer = rows(fleet.path(), "SELECT * FROM captures ORDER BY start_unix_ns");
    let mut summaries: Vec<&Value> = real.iter().map(|(_, summary)| summary).collect();
    summaries.sort_by_key(|s| s["session"]["start_unix_ns"].as_i64());
    for (row, summary) in answer.iter().zip(summaries) {
        let headline = &summary["findings"]["headline"];
        for field in
            ["tokens", "token_ns", "tokens_per_s", "mbu", "threads", "prefill_tokens_per_s", "probes_share"]
        {
            assert_eq!(row[field], headline[field], "{field}");
        }
        for field in ["kernel", "cpu_model", "agent", "start_unix_ns", "duration_ns"] {
            assert_eq!(row[field], summary["session"][field], "{field}");
        }
        assert_eq!(row["device"], "bench-1");
        // Nearest rank, computed differently than in the program: the smallest value that is not
        // below 99 of 100 values.
        let calls = summary["tokens"]["calls"].as_array().unwrap();
        let decode: Vec<i64> = calls
            .iter()
            .filter(|c| c["phase"] == "decode" && c["status"] == 0)
            .map(|c| c["duration_ns"].as_i64().unwrap())
            .collect();
        let enough = |v: i64| 100 * decode.iter().filter(|d| **d <= v).count() >= 99 * decode.len();
        assert_eq!(row["decode_p99_ns"].as_i64(), decode.iter().copied().filter(|v| enough(*v)).min());
    }
    let models: BTreeSet<&str> = answer.iter().map(|r| r["model_name"].as_str().unwrap()).collect();
    assert_eq!(models, BTreeSet::from(["dense-q8", "moe-mixtral8", "smollm2"]));
    // The same model is the same work, for any agent.
    let hashes: BTreeSet<(&str, &str)> = answer
        .iter()
        .map(|r| (r["model_name"].as_str().unwrap(), r["weights_hash"].as_str().unwrap()))
        .collect();
    assert_eq!(hashes.len(), 3, "{hashes:?}");
}
