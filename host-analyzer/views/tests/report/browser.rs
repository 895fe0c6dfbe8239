//! Opens a report in headless Chromium with `page/tests/read.mjs` and returns what a reader sees.

use std::path::{Path, PathBuf};
use std::process::Command;

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use profinfer_views as views;
use serde_json::Value;

/// Exit status of the script if Chromium or its packages are not installed.
const NOT_INSTALLED: i32 = 2;

pub(crate) fn frontend() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("page")
}

/// Runs a script of the page's package. `None`, with the reason on stderr, if a requirement is not
/// installed. If `PROFINFER_CHROMIUM` names a browser (as in scripts/test.sh), that is a failure.
pub(crate) fn node(script: &str, args: &[&Path]) -> Option<std::process::Output> {
    let required = std::env::var_os("PROFINFER_CHROMIUM").is_some_and(|v| !v.is_empty());
    let missing = |why: &str| {
        assert!(!required, "PROFINFER_CHROMIUM is set, but {why}");
        profinfer_skip::skip(why);
        None
    };
    let output = match Command::new("node").arg(frontend().join(script)).args(args).output() {
        Ok(output) => output,
        Err(error) => {
            return missing(&format!(
                "node cannot be started ({error}); scripts/setup.sh --tests installs it"
            ));
        }
    };
    if output.status.code() == Some(NOT_INSTALLED) {
        return missing(String::from_utf8_lossy(&output.stderr).trim());
    }
    Some(output)
}

/// The opened page of a session; `None` without a browser.
pub(crate) fn open(model: &Model, analysis: &Analysis) -> Option<Value> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let page = dir.path().join("report.html");
    let mut bytes = Vec::new();
    views::report::report(model, analysis, &mut bytes).expect("writing into memory");
    std::fs::write(&page, bytes).expect("writing the page");
    let output = node("tests/read.mjs", &[&page])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("the script prints JSON"))
}

/// A view's bytes, parsed.
pub(crate) fn json(
    view: fn(&Model, &Analysis, &mut dyn std::io::Write) -> std::io::Result<()>,
    model: &Model,
    analysis: &Analysis,
) -> Value {
    let mut bytes = Vec::new();
    view(model, analysis, &mut bytes).expect("writing into memory");
    serde_json::from_slice(&bytes).expect("a view is JSON")
}
