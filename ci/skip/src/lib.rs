//! Reports skipped tests: every test that cannot run on this machine calls [`skip`].
//!
//! Rust's test harness knows no skip at run time: such a test ends well, and nobody sees it. Therefore each is written as a
//! line `NAME: REASON` into the file that `PROFINFER_SKIPS` names, which `scripts/test.sh` counts, and with
//! `PROFINFER_REQUIRE=1` it fails. Shell scripts do the same by `skip` of `scripts/lib.sh`.
//!
//! A test that a script of `ci/` must feed is not skipped otherwise: it has `#[ignore]`, and the script runs it by name.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The running test is skipped: the caller returns.
///
/// # Panics
/// With `PROFINFER_REQUIRE=1`, and where the file that `PROFINFER_SKIPS` names cannot be written.
pub fn skip(why: impl Display) {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let required = set("PROFINFER_REQUIRE").is_some_and(|value| value == "1");
    record(&test_name(), &why.to_string(), set("PROFINFER_SKIPS").as_deref().map(Path::new), required);
}

/// The value of a variable that names something the test needs. Without it the test is skipped.
#[must_use]
pub fn needed(variable: &str, set_by: &str) -> Option<OsString> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    if value.is_none() {
        skip(format_args!("{variable} is not set; {set_by} sets it"));
    }
    value
}

/// The same for a path.
#[must_use]
pub fn needed_path(variable: &str, set_by: &str) -> Option<PathBuf> {
    needed(variable, set_by).map(PathBuf::from)
}

/// Whether real engines can be traced here; if not, the test is skipped.
#[must_use]
pub fn can_trace() -> bool {
    let why_not = std::env::var("PROFINFER_NO_BPF");
    if let Ok(why) = &why_not {
        skip(format_args!("this machine cannot trace: {why}"));
    }
    why_not.is_err()
}

fn record(test: &str, why: &str, file: Option<&Path>, required: bool) {
    let line = format!("{test}: {}", why.lines().collect::<Vec<_>>().join(" "));
    eprintln!("SKIPPED: {line}");
    if let Some(path) = file {
        // One write of one line: tests of several processes append to this file at once.
        let written = OpenOptions::new().create(true).append(true).open(path);
        let written = written.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    assert!(!required, "skipped, and with PROFINFER_REQUIRE=1 no test may be: {line}");
}

/// The harness names a test's thread after the test, unless it runs tests on the main thread.
fn test_name() -> String {
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main").map(str::to_owned);
    name.or_else(|| std::env::var("NEXTEST_TEST_NAME").ok()).unwrap_or_else(|| "a test".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("profinfer-skip-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn a_skip_is_a_line_with_name_and_reason() {
        let path = file("lines");
        record(&test_name(), "no\nBPF", Some(&path), false);
        record("another", "no engine", Some(&path), false);
        let written = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(written, "tests::a_skip_is_a_line_with_name_and_reason: no BPF\nanother: no engine\n");
    }

    #[test]
    #[should_panic(expected = "skipped, and with PROFINFER_REQUIRE=1 no test may be: some: why")]
    fn a_skip_fails_where_nothing_may_be_skipped() {
        record("some", "why", None, true);
    }
}
