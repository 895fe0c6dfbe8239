//! `analyze fleet ...`: replaces this process with the program `analyze-fleet`, as git does with
//! its commands. Its query engine is several times as large as `analyze`, and most users never need
//! it.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::{Diagnostic, Result};

const PROGRAM: &str = "analyze-fleet";

/// Environment variable that names the `analyze` which reads recordings for `analyze-fleet`.
const ANALYZE: &str = "PROFINFER_ANALYZE";

pub(crate) fn fleet(arguments: &[OsString]) -> Result<ExitCode> {
    let own = env::current_exe().ok();
    let beside = own.as_ref().and_then(|path| Some(path.parent()?.join(PROGRAM)));
    let in_path = env::var_os("PATH").into_iter().flat_map(|all| env::split_paths(&all).collect::<Vec<_>>());
    let candidates: Vec<PathBuf> = beside.into_iter().chain(in_path.map(|dir| dir.join(PROGRAM))).collect();
    let Some(program) = candidates.iter().find(|path| path.is_file()) else {
        return Err(Diagnostic::new(
            format!("looking for {PROGRAM}"),
            "it is neither next to `analyze` nor in PATH",
            "put both programs of the release in one folder, or build it: cargo build --profile host --manifest-path fleet/Cargo.toml --target-dir target",
        ));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(own) = own.filter(|_| env::var_os(ANALYZE).is_none()) {
        command.env(ANALYZE, own);
    }
    // `exec` returns only if it failed.
    let e = command.exec();
    Err(Diagnostic::new(
        format!("starting {}", program.display()),
        e,
        "make it executable, or install it again",
    ))
}
