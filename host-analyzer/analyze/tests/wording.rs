//! All texts for people, word for word: help, terminal views, errors. Other tests check numbers and
//! codes, so a change of words changes only the files in `snapshots/`. After one:
//! `INSTA_UPDATE=always cargo test -p analyze --test wording`, and read the diff.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name)
}

/// A folder with recordings under short names, so that the text has no path of this machine.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, from) in [
            ("demo.pfi", "demo.pfi"),
            ("dense.pfi", "published/2026-11-23/dense-q8.pfi"),
            ("dense-22.pfi", "published/2026-11-22/dense-q8.pfi"),
            ("moe.pfi", "published/2026-11-23/moe-mixtral8.pfi"),
            ("vulkan.pfi", "accelerator/lavapipe.pfi"),
            ("vulkan.log", "accelerator/lavapipe.log"),
        ] {
            fs::copy(data(from), folder.path().join(name)).unwrap();
        }
        let cut = fs::read(folder.path().join("demo.pfi")).unwrap();
        fs::write(folder.path().join("cut.pfi"), &cut[..cut.len() / 2]).unwrap();
        fs::write(folder.path().join("none.pfi"), "no recording").unwrap();
        Self(folder)
    }

    /// Exit status, standard output and standard error of `analyze`.
    fn analyze(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .current_dir(self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path())
            .env("NO_COLOR", "1")
            .args(arguments)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        // Progress lines contain times of this machine.
        let err: Vec<_> =
            text(&output.stderr).lines().filter(|l| !l.contains("MB/s")).map(str::to_owned).collect();
        let (out, err) = (text(&output.stdout), err.join("\n"));
        format!(
            "$ analyze {}\n[{}]\n{out}\n--- stderr\n{err}\n",
            arguments.join(" "),
            output.status.code().unwrap()
        )
    }
}

/// Each command's help in its short and its long form.
#[test]
fn help() {
    fn all(command: &mut clap::Command, path: &str) {
        for part in command.get_subcommands_mut() {
            let path = format!("{path}-{}", part.get_name());
            if part.get_name() != "help" {
                all(part, &path);
            }
        }
        let (short, long) = (command.render_help(), command.render_long_help());
        insta::assert_snapshot!(path, format!("{short}\n=====\n\n{long}"));
    }
    let mut command = analyze::command_line();
    command.build();
    all(&mut command, "help-analyze");
}

#[test]
fn terminal() {
    let folder = Folder::new();
    for (name, arguments) in [
        ("demo", &["demo.pfi"][..]),
        ("dense", &["dense.pfi"]),
        ("moe", &["moe.pfi"]),
        ("vulkan", &["vulkan.pfi", "--accelerator-profile", "vulkan.log"]),
        ("cut", &["cut.pfi"]),
        ("compare", &["compare", "dense-22.pfi", "dense.pfi", "--warm-up", "0"]),
        ("backends", &["backends", "demo.pfi", "vulkan.pfi", "--accelerator-profile", "2=vulkan.log"]),
        ("tune", &["tune", "demo.pfi"]),
        ("inspect", &["inspect", "cut.pfi"]),
        ("boards", &["boards"]),
        ("board", &["boards", "rk3588"]),
        ("findings", &["findings"]),
        ("finding", &["findings", "preempted"]),
        ("expert-pins", &["export", "expert-pins", "moe.pfi"]),
    ] {
        let mut text = folder.analyze(arguments);
        if name == "inspect" {
            text = text.lines().take(60).collect::<Vec<_>>().join("\n");
        }
        insta::assert_snapshot!(format!("terminal-{name}"), text);
    }
}

#[test]
fn errors() {
    let folder = Folder::new();
    let mut all = String::new();
    for arguments in [
        &["nowhere.pfi"][..],
        &["none.pfi"],
        &["--board", "nothing", "demo.pfi"],
        &["--only", "nothing.json", "demo.pfi"],
        &["tcp:127.0.0.1:1", "--wait", "1"],
        &["serial:/dev/nothing@1500000", "--wait", "1"],
        &["compare", "dense.pfi", "dense.pfi"],
        &["compare", "nowhere.pfi", "dense.pfi"],
        &["compare", "dense.pfi", "moe.pfi", "--warm-up", "100000"],
        &["compare", "dense.pfi", "moe.pfi", "--fail-if", "slower=2"],
        &["predict", "nowhere.gguf", "--from", "demo.pfi"],
        &["predict", "none.pfi", "--from", "demo.pfi"],
        &["tune", "nowhere.pfi"],
        &["backends", "vulkan.pfi", "--accelerator-profile", "2=vulkan.log"],
        &["engine", "none.pfi"],
        &["findings", "nothing"],
        &["boards", "nothing"],
        &["--key", "nothing.key", "tcp:127.0.0.1:1"],
    ] {
        all += &folder.analyze(arguments);
        all.push('\n');
    }
    insta::assert_snapshot!("errors", all);
}
