//! Adding: again, by several processes at once, and by a killed process.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::common::{FLEET, add, folders, made, one, real, rows, tree};

/// Not 1,000 captures: they would only take more time.
const MANY: usize = 24;

fn many(under: &std::path::Path) -> Vec<PathBuf> {
    let summaries: Vec<_> = (0..MANY as i64).map(|i| made("rk3588", 1 + i as u32 / 8, i, 10.0)).collect();
    folders(under, &summaries)
}

#[test]
fn adding_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (sources, place) = (many(&folder.path().join("in")), folder.path().join("fleet"));
    assert_eq!(add(&sources, &place, &[]), [MANY as u64, 0, 0]);
    let before = tree(&place);
    assert_eq!(before.len(), 3 * MANY);
    assert_eq!(add(&sources, &place, &["--device", "other"]), [0, MANY as u64, 0]);
    assert_eq!(tree(&place), before);
    // Equal rows give equal bytes.
    let again = folder.path().join("again");
    add(&sources, &again, &[]);
    let bytes =
        |files: Vec<(PathBuf, Vec<u8>)>| files.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
    assert_eq!(bytes(tree(&again)), bytes(before));
}

#[test]
fn a_recording_and_the_folder_of_its_views_are_one_capture() {
    let Some(real) = real() else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let recordings: Vec<PathBuf> = real.iter().map(|(path, _)| path.clone()).collect();
    let written =
        folders(&folder.path().join("in"), &real.iter().map(|(_, s)| s.clone()).collect::<Vec<_>>());
    add(&recordings, &place, &[]);
    assert_eq!(add(&written, &place, &[]), [0, real.len() as u64, 0]);
}

#[test]
fn writers_at_once_give_what_one_gives() {
    let folder = tempfile::tempdir().unwrap();
    let sources = many(&folder.path().join("in"));
    let (alone, place) = (folder.path().join("alone"), folder.path().join("fleet"));
    add(&sources, &alone, &[]);
    let writers: Vec<_> = (0..4)
        .map(|i| {
            // In different orders, so that the writers collide.
            let mut sources = sources.clone();
            if i % 2 == 1 {
                sources.reverse()
            }
            Command::new(FLEET)
                .arg("add")
                .args(sources)
                .arg("--to")
                .arg(&place)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let relative = |root: &PathBuf| -> Vec<_> {
        tree(root)
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(root).unwrap().to_owned(), bytes))
            .collect()
    };
    assert_eq!(relative(&place), relative(&alone));
}

/// Kills each run a little later, from before its first file to after its last. The fleet must be
/// intact each time.
#[test]
fn a_killed_writer_leaves_nothing_half() {
    let folder = tempfile::tempdir().unwrap();
    let sources = many(&folder.path().join("in"));
    let began = Instant::now();
    add(&sources, &folder.path().join("whole"), &[]);
    let whole = began.elapsed();
    let mut between = 0;
    for round in 0..20_u32 {
        let place = folder.path().join(format!("fleet-{round}"));
        let mut writer = Command::new(FLEET)
            .arg("add")
            .args(&sources)
            .arg("--to")
            .arg(&place)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * round / 20 + Duration::from_micros(u64::from(round) * 37));
        let _ = writer.kill();
        writer.wait().unwrap();

        let captures = rows(&place, "SELECT capture FROM captures");
        between += usize::from(!captures.is_empty() && captures.len() < MANY);
        // Two operators and one finding per capture, and none of a missing capture.
        assert_eq!(one(&place, "SELECT count(*) FROM operators"), 2 * captures.len(), "round {round}");
        assert_eq!(one(&place, "SELECT count(*) FROM findings"), captures.len(), "round {round}");
        let alone = "SELECT count(*) FROM captures WHERE digest NOT IN (SELECT digest FROM operators)";
        assert_eq!(one(&place, alone), 0);
        add(&sources, &place, &[]);
        assert_eq!(one(&place, "SELECT count(*) FROM captures"), MANY);
        assert_eq!(one(&place, "SELECT count(*) FROM operators"), 2 * MANY);
        if between >= 3 && round >= 9 {
            break;
        }
    }
    eprintln!("killed between the first and the last capture: {between} times");
}

/// Files of an attempt that another one overtook: with other rows, and without its capture.
#[test]
fn rows_of_a_writer_that_came_second_are_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    add(&folders(&folder.path().join("a"), &[made("rk3588", 1, 1, 10.0)]), &place, &[]);
    // The same recording, read by a newer `analyze`, into another place. Copy its operators here,
    // as if that writer had been killed before its capture.
    let mut newer = made("rk3588", 1, 1, 10.0);
    newer["operators"][0]["wall_ns"] = 777_777.into();
    let other = folder.path().join("other");
    add(&folders(&folder.path().join("b"), &[newer]), &other, &[]);
    for (path, bytes) in tree(&other.join("v1/operators")) {
        std::fs::write(place.join(path.strip_prefix(&other).unwrap()), bytes).unwrap();
    }
    assert_eq!(one(&place, "SELECT count(*) FROM operator_rows"), 4);
    assert_eq!(one(&place, "SELECT count(*) FROM operators"), 2);
    assert_eq!(one(&place, "SELECT max(wall_ns) FROM operators"), 1001);
}
