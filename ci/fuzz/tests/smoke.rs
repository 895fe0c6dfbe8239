//! The smoke run: every target over its kept corpus and over mutations of it, a few seconds in
//! total.
//!
//! A failing input is written to a file, and reported with the seed. `PROFINFER_FUZZ_SEED` selects
//! a seed, `PROFINFER_FUZZ_TARGET` one target, and `PROFINFER_FUZZ_MUTATIONS` the number of
//! mutations of the cheapest target.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use profinfer_fuzz::mutate::{Random, dictionary, mutated};
use profinfer_fuzz::{TARGETS, Target};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn set<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: not understood")))
}

/// The kept inputs in the order of their names, so that a seed makes the same inputs everywhere.
fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder().join("corpus").join(target.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

fn words(target: &Target) -> Vec<Vec<u8>> {
    let path = folder().join("dictionaries").join(format!("{}.dict", target.name));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    dictionary(&text).unwrap_or_else(|line| panic!("{}: not a word: {line}", path.display()))
}

/// Runs one input. Where a property is violated, it keeps the input and prints how to run it again.
fn run(target: &Target, input: &[u8], from: &str) {
    if catch_unwind(|| (target.run)(input)).is_err() {
        let path = std::env::temp_dir().join(format!("profinfer-fuzz-{}", target.name));
        fs::write(&path, input).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let kept = path.display();
        panic!(
            "{}: {from} fails. It is in {kept}: fix it, and put it into fuzz/corpus/{}.",
            target.name, target.name
        );
    }
}

fn smoke(name: &str) {
    if set::<String>("PROFINFER_FUZZ_TARGET").is_some_and(|only| only != name) {
        return;
    }
    let target = TARGETS.iter().find(|t| t.name == name).expect("a target");
    let (kept, words) = (corpus(target), words(target));
    assert!(!kept.is_empty() && !words.is_empty(), "{name} has no corpus or no dictionary");
    for (path, input) in &kept {
        run(target, input, &path.display().to_string());
    }
    let seed: u64 = set("PROFINFER_FUZZ_SEED").unwrap_or(1);
    let most: u64 = set("PROFINFER_FUZZ_MUTATIONS").unwrap_or(100_000);
    let inputs: Vec<Vec<u8>> = kept.into_iter().map(|(_, input)| input).collect();
    let mut random = Random(seed);
    for number in 0..most * u64::from(target.share) / 1000 {
        let input = mutated(&inputs, &words, &mut random);
        run(target, &input, &format!("mutation {number} of PROFINFER_FUZZ_SEED={seed}"));
    }
}

macro_rules! smoke {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            smoke(stringify!($name));
        })*

        /// Every target has a test, a program for libFuzzer, and its lines in the list of these.
        #[test]
        fn every_target_is_run() {
            let tests = [$(stringify!($name)),*];
            let programs = fs::read_to_string(folder().join("Cargo.toml")).expect("fuzz/Cargo.toml");
            for target in TARGETS {
                let name = target.name;
                assert!(tests.contains(&name), "{name} has no test here");
                assert!(programs.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} has no program in fuzz/");
                let program = fs::read_to_string(folder().join(format!("fuzz_targets/{name}.rs"))).expect("its program");
                assert!(program.contains(&format!("::{name}(bytes));")), "fuzz_targets/{name}.rs runs something else");
            }
        }
    };
}

smoke! { accumulator hello records span count expert part gauge predicted board engine gguf handshake plan ring format system accelerator views }

/// The smoke run detects failures of a target: without this test, a broken harness would pass
/// everything.
#[test]
fn what_fails_is_seen() {
    let target = Target { name: "what-fails", run: |input| assert!(!input.contains(&b'!')), share: 1000 };
    let (inputs, mut random) = (vec![b"four".to_vec()], Random(1));
    let words = dictionary("# a comment\nmark=\"!\"\nslash=\"\\\\\\x00\"\n").expect("a dictionary");
    assert_eq!(words, [b"!".to_vec(), b"\\\0".to_vec()]);
    let found = (0..10_000).any(|_| {
        let input = mutated(&inputs, &words, &mut random);
        catch_unwind(|| (target.run)(&input)).is_err()
    });
    assert!(found, "10,000 mutations, and none has a word of the dictionary");
}
