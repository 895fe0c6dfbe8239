//! The same in a bucket with the S3 protocol; `ci/fleet/s3.sh` starts the server.

use std::process::{Command, Stdio};

use super::common::{FLEET, add, counts, folders, made, one, said};

#[test]
#[ignore = "ci/fleet/s3.sh runs it"]
fn a_bucket_is_as_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut summaries: Vec<_> = (0..12).map(|i| made("rk3588", 1, i, 10.0)).collect();
    summaries.push(made("a/b + ü", 1, 50, 3.0));
    let sources = folders(&folder.path().join("in"), &summaries);
    let bucket = std::path::Path::new("s3://fleet/some/prefix");
    let local = folder.path().join("fleet");
    let writers: Vec<_> = (0..3)
        .map(|_| {
            Command::new(FLEET)
                .arg("add")
                .args(&sources)
                .arg("--to")
                .arg(bucket)
                .args(["--format", "json"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut added = 0;
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success());
        added += counts(&output.stdout)[0];
    }
    // Three processes wrote at once, and each capture was new to one of them.
    assert_eq!(added, summaries.len() as u64);
    assert_eq!(add(&sources, bucket, &[]), [0, summaries.len() as u64, 0]);
    add(&sources, &local, &[]);
    assert_eq!(one(bucket, "SELECT count(*) FROM operators"), 2 * summaries.len());
    for query in [
        "SELECT * FROM captures ORDER BY capture",
        "SELECT * FROM operators ORDER BY capture, name",
        "SELECT board, count(*) FROM findings GROUP BY board ORDER BY board",
    ] {
        let ask = |place: &std::path::Path| {
            said(&["sql", query, "--in", place.to_str().unwrap(), "--format", "json"])
        };
        assert_eq!(ask(bucket), ask(&local), "{query}");
    }
}
