//! The options that remedies name, compared with those that the engine's programs know.

use std::collections::BTreeSet;
use std::process::Command;

use profinfer_views::words::findings::remedies;

use crate::support::tool;

/// Programs of llama.cpp whose options remedies name.
const PROGRAMS: [&str; 4] =
    ["llama-completion", "llama-server", "llama-speculative-simple", "llama-quantize"];
/// An option of docker.
const OTHERS: [&str; 1] = ["--memory"];
/// What follows, up to the next bracket, is for builds that do not know the option before it.
const OLDER: &str = "older builds:";

/// Options in a text: `-t`, `--poll`.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "()[],;:`|".contains(c));
    words.map(|word| word.trim_end_matches('.')).filter(|word| {
        word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_lowercase()) && word.starts_with('-')
    })
}

/// Removes the options for older builds from a text.
fn current(text: &str) -> String {
    let mut parts = text.split(OLDER);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once(')').map_or("", |(_, after)| after))
}

#[test]
fn remedies_name_options_of_this_engine() {
    let mut known = BTreeSet::new();
    for name in PROGRAMS {
        let Some(program) = tool(name) else { return };
        // llama-quantize ends its help with an error.
        let said = Command::new(program).arg("--help").output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout) + String::from_utf8_lossy(&said.stderr);
        known.extend(options(&text).map(str::to_owned));
    }
    let named: BTreeSet<String> =
        remedies().flat_map(|text| options(&current(text)).map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(named.len() > 20, "only {named:?}");
    let unknown: Vec<_> =
        named.iter().filter(|o| !known.contains(*o) && !OTHERS.contains(&o.as_str())).collect();
    assert!(unknown.is_empty(), "this engine has no {unknown:?}");
}
