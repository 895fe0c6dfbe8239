//! Prepared queries on fleets whose answers are computed by hand.

use serde_json::Value;

use super::common::{add, folders, made, said};

fn ask(name: &str, place: &std::path::Path, options: &[&str]) -> Vec<Value> {
    let all = [&[name, "--in", place.to_str().unwrap(), "--format", "json"], options].concat();
    serde_json::from_str(&said(&all)).unwrap()
}

fn close(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() < 1e-12
}

#[test]
fn the_trend_is_the_median_by_build_in_order_of_build_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    // Build 900 is measured last, and is older. Medians: 10, 12 of (11, 12, 20), and 15 of (14, 16).
    let speeds =
        [(1000, 1, 11.0), (1000, 2, 20.0), (1000, 3, 12.0), (1100, 4, 14.0), (1100, 5, 16.0), (900, 6, 10.0)];
    let summaries: Vec<_> =
        speeds.iter().map(|(build, when, speed)| made("rk3588", *build, *when, *speed)).collect();
    add(&folders(&folder.path().join("a"), &summaries), &place, &[]);
    add(&folders(&folder.path().join("b"), &[made("rpi5", 900, 1, 3.0)]), &place, &[]);
    let rows = ask("trend", &place, &["--board", "rk3588"]);
    let shown: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r["engine"].as_str().unwrap(),
                r["captures"].as_i64().unwrap(),
                r["tokens_per_s"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(shown, [("b900", 1, 10.0), ("b1000", 3, 12.0), ("b1100", 2, 15.0)]);
    assert!(
        rows[0]["change_share"].is_null()
            && close(&rows[1]["change_share"], 0.2)
            && close(&rows[2]["change_share"], 0.25)
    );
    assert_eq!(ask("trend", &place, &[]).len(), 4);
}

#[test]
fn the_ranking_is_of_the_best_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let mut more_threads = made("rpi5", 1, 3, 9.0);
    more_threads["findings"]["headline"]["threads"] = 8.into();
    let summaries =
        [made("rpi5", 1, 1, 5.0), made("rk3588", 1, 2, 7.0), more_threads, made("odroid", 1, 4, 7.0)];
    add(&folders(&folder.path().join("a"), &summaries), &place, &[]);
    let rows = ask("ranking", &place, &[]);
    let shown: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r["rank_of_boards"].as_i64().unwrap(),
                r["board"].as_str().unwrap(),
                r["threads"].as_i64().unwrap(),
            )
        })
        .collect();
    assert_eq!(shown, [(1, "rpi5", 8), (2, "odroid", 4), (2, "rk3588", 4)]);
}

#[test]
fn a_device_apart_from_its_kind_is_an_outlier() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    for (i, speed) in [10.0, 10.1, 10.2, 10.3, 8.0].into_iter().enumerate() {
        let sources = folders(&folder.path().join(i.to_string()), &[made("rk3588", 1, i as i64, speed)]);
        add(&sources, &place, &["--device", &format!("board-{i}")]);
    }
    let rows = ask("outliers", &place, &[]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0]["device"].as_str(), rows[0]["devices"].as_i64()), (Some("board-4"), Some(5)));
    // The median of 8, 10, 10.1, 10.2 and 10.3 is 10.1; distances 2.1, 0.1, 0, 0.1, 0.2.
    assert!((rows[0]["score"].as_f64().unwrap() - 0.6745 * -2.1 / 0.1).abs() < 1e-9, "{rows:?}");
    assert!(ask("outliers", &place, &["--board", "rpi5"]).is_empty());
}

#[test]
fn a_change_is_found_where_it_is_and_none_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let noise = [0.0, 0.3, 0.1, 0.4, 0.2, 0.25, 0.05, 0.35, 0.15, 0.45];
    let slower: Vec<_> = (0..20_i64)
        .map(|i| {
            made(
                "rk3588",
                if i < 10 { 1 } else { 2 },
                i,
                noise[i as usize % 10] + if i < 10 { 10.0 } else { 9.0 },
            )
        })
        .collect();
    let same: Vec<_> = (0..20_i64).map(|i| made("rpi5", 1, i, 10.0 + noise[i as usize % 10])).collect();
    add(&folders(&folder.path().join("a"), &slower), &place, &[]);
    add(&folders(&folder.path().join("b"), &same), &place, &[]);
    let rows = ask("regressions", &place, &[]);
    assert_eq!(rows.len(), 2);
    let slower = &rows[0];
    assert_eq!((slower["board"].as_str(), slower["stands"].as_str()), (Some("rk3588"), Some("slower")));
    // All of the first ten are faster than all of the others: Σ ranks is 155, and 2·155 − 10·21 = 100.
    assert_eq!((slower["captures_before"].as_i64(), slower["pettitt_k"].as_f64()), (Some(10), Some(100.0)));
    assert_eq!(
        (slower["engine_before"].as_str(), slower["engine_behind"].as_str()),
        (Some("b1"), Some("b2"))
    );
    assert!(
        close(&slower["tokens_per_s_before"], 10.225) && close(&slower["tokens_per_s_behind"], 9.225),
        "{slower}"
    );
    assert!(rows[1]["stands"].is_null() && rows[1]["p"].as_f64().unwrap() > 0.2, "{rows:?}");
}

#[test]
fn the_page_shows_what_the_queries_say() {
    let folder = tempfile::tempdir().unwrap();
    let (place, page) = (folder.path().join("fleet"), folder.path().join("fleet.html"));
    let report = || {
        said(&["report", "--in", place.to_str().unwrap(), "--out", page.to_str().unwrap()]);
        std::fs::read_to_string(&page).unwrap()
    };
    assert!(report().contains("nothing to show yet"));
    let summaries: Vec<_> = (0..30_i64)
        .map(|i| {
            made("<b>&\"'", if i < 15 { 1 } else { 2 }, i, if i < 15 { 10.0 } else { 9.0 } + i as f64 / 100.0)
        })
        .collect();
    add(&folders(&folder.path().join("a"), &summaries), &place, &[]);
    let page = report();
    assert!(
        page.contains("30 captures in 1 series")
            && page.contains(">slower<")
            && page.contains("class=\"change\"")
    );
    assert_eq!(page.matches("<circle").count(), 30);
    assert!(
        !page.contains("<b>") && !page.contains("://") && !page.contains("src=") && !page.contains("<script")
    );
}
