//! `analyze fleet ...`: replaces this process by the program `analyze-fleet`, as git does with
//! its commands. Its query engine is several times as large as `analyze`, and most users never need
//! it.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::{Diagnostic, Result, system};

const PROGRAM: &str = "analyze-fleet";

const INSTALL: &str = "put both programs of the release in one folder, install the package profinfer-analyze-fleet, or build it from a checkout: \
    cargo build --profile host --manifest-path fleet/Cargo.toml --target-dir target";

const HELP: &str = "Manage many recordings in one folder or object store: add recordings, query them in SQL, show trends,
regressions, rankings and a page.

This is done by another program, analyze-fleet, which is neither next to `analyze` nor in PATH. Put both
programs of the release in one folder, or install the package profinfer-analyze-fleet; then this command shows its
options. docs/fleet.md describes it.";

/// Environment variable that names the `analyze` which reads recordings for `analyze-fleet`.
const ANALYZE: &str = "PROFINFER_ANALYZE";

pub(crate) fn fleet(arguments: &[OsString]) -> Result<ExitCode> {
    let own = env::current_exe().ok();
    let file = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let in_same_folder = own.as_ref().and_then(|path| Some(path.parent()?.join(&file)));
    let in_path = env::var_os("PATH").into_iter().flat_map(|all| env::split_paths(&all).collect::<Vec<_>>());
    let candidates: Vec<PathBuf> =
        in_same_folder.into_iter().chain(in_path.map(|dir| dir.join(&file))).collect();
    let Some(program) = candidates.iter().find(|path| path.is_file()) else {
        if arguments.is_empty() || arguments.iter().any(|word| word == "--help" || word == "-h") {
            let _ = writeln!(anstream::stdout(), "{HELP}");
            return Ok(ExitCode::SUCCESS);
        }
        return Err(Diagnostic::new(
            format!("running {PROGRAM}, the program for many recordings"),
            "it is neither next to `analyze` nor in PATH",
            INSTALL,
        ));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(own) = own.filter(|_| env::var_os(ANALYZE).is_none()) {
        command.env(ANALYZE, own);
    }
    system::replace(&mut command).map_err(|e| {
        Diagnostic::new(
            format!("starting {}", program.display()),
            e,
            "make it executable, or install it again",
        )
    })
}
