//! The user's profiles, next to the shipped ones and in their place.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use profinfer_boards::{BoardError, Catalog};

const BOARD: &str = r#"name = "mine"
description = "A board of my own"
soc = "X1"
machine = "aarch64"
levels = ["token"]
counter_set = "few"
provenance = "vendor: its manual"

[[clusters]]
core = "a73"
cpus = "0,2-3"
provenance = "measured: lscpu"
"#;

const CORE: &str = r#"name = "a73"
description = "Arm Cortex-A73"
midr = 0x4100d090
counters = 6
provenance = "vendor: its manual"

[[sets]]
name = "few"
description = "A beginning."
events = ["INST_RETIRED"]

[[events]]
name = "INST_RETIRED"
number = 0x08
unit = "count"
meaning = "Instructions."

[[events]]
name = "CPU_CYCLES"
number = 0x11
unit = "cycles"
meaning = "Cycles."
"#;

fn add(catalog: &mut Catalog, files: &[(&str, &str)]) -> Result<Vec<String>, BoardError> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Ok(catalog.with_folder(files)?.iter().map(ToString::to_string).collect())
}

#[test]
fn a_board_and_a_core_of_ones_own() {
    let mut catalog = Catalog::shipped().unwrap();
    // The board comes before the core that it needs: the order of files does not matter.
    let replaced = add(&mut catalog, &[("/b/mine.toml", BOARD), ("/b/cores/a73.toml", CORE)]).unwrap();
    assert!(replaced.is_empty());
    let board = catalog.find("mine").unwrap();
    assert_eq!(board.clusters()[0].cpus.to_string(), "0,2-3");
    let names: Vec<String> = board.counter_plan(None).unwrap().into_iter().map(|c| c.name).collect();
    assert_eq!(names, ["CPU_CYCLES", "INST_RETIRED", "minor-faults", "major-faults"]);
    assert!(catalog.find("rk3588").is_ok());
}

#[test]
fn ones_own_takes_a_shipped_ones_place_and_that_is_said() {
    let mut catalog = Catalog::shipped().unwrap();
    let board = BOARD.replace("\"mine\"", "\"rk3588\"");
    let files = [("/first/rk3588.toml", &*board), ("/first/cores/a73.toml", CORE)];
    let replaced = add(&mut catalog, &files).unwrap();
    assert_eq!(replaced.len(), 1, "the core is new");
    assert!(
        replaced[0].contains("board `rk3588`") && replaced[0].contains("/first/rk3588.toml"),
        "{replaced:?}"
    );
    assert_eq!(catalog.find("rk3588").unwrap().soc, "X1");
    // A second folder goes over the first.
    let again = board.replace("X1", "X2");
    assert_eq!(add(&mut catalog, &[("/second/rk3588.toml", &again)]).unwrap().len(), 1);
    assert_eq!(catalog.find("rk3588").unwrap().soc, "X2");
}

#[test]
fn a_core_of_ones_own_is_that_of_shipped_boards_too() {
    let mut catalog = Catalog::shipped().unwrap();
    let core = CORE
        .replace("a73", "cortex-a55")
        .replace("0x4100d090", "0x4100d050")
        .replace("\"few\"", "\"memory\"");
    assert_eq!(add(&mut catalog, &[("x/cores/cortex-a55.toml", &core)]).unwrap().len(), 1);
    let plan = catalog.find("rk3568").unwrap().counter_plan(None).unwrap();
    assert_eq!(plan.len(), 2 + 2);
    // Boards of two types of core: what both have has one slot still.
    let plan = catalog.find("rk3588").unwrap().counter_plan(None).unwrap();
    assert_eq!(plan.len(), 2 + 7 + 2);
}

#[test]
fn after_an_error_the_catalog_is_as_before() {
    let mut catalog = Catalog::shipped().unwrap();
    let broken = BOARD.replace("levels", "lewels");
    assert!(add(&mut catalog, &[("mine.toml", &broken), ("cores/a73.toml", CORE)]).is_err());
    assert!(catalog.find("mine").is_err() && catalog.find("rk3588").is_ok());
    assert!(add(&mut catalog, &[("mine.toml", BOARD), ("cores/a73.toml", CORE)]).is_ok());
}

#[test]
fn aliases_of_ones_own() {
    let mut catalog = Catalog::shipped().unwrap();
    let with = |name: &str, alias: &str| {
        BOARD.replace("name = \"mine\"", &format!("name = \"{name}\"\naliases = [\"{alias}\"]"))
    };
    // A shipped board has this alias too: the user's comes first.
    let files = [("mine.toml", &*with("mine", "rpi 5")), ("cores/a73.toml", CORE)];
    add(&mut catalog, &files).unwrap();
    assert_eq!(catalog.find("RPi5").unwrap().name, "mine");
    assert_eq!(catalog.find("pi5").unwrap().name, "bcm2712");
    let other = with("other", "RPI-5");
    let twice = [("mine.toml", &*with("mine", "rpi 5")), ("other.toml", &*other), ("cores/a73.toml", CORE)];
    let e = add(&mut catalog, &twice).unwrap_err();
    assert!(matches!(&e, BoardError::File { path, line: 2, .. } if path == "other.toml"), "{e}");
    let empty = with("mine", "-");
    assert!(add(&mut catalog, &[("mine.toml", &empty), ("cores/a73.toml", CORE)]).is_err());
}
