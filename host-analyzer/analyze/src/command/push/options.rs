//! The command line of `analyze push`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Port of the agent, on this machine and on the board.
pub(crate) const PORT: u16 = 7817;

/// How the board is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// sshd or dropbear, with root's login or with sudo
    Ssh,
    /// Android, and other systems with its daemon
    Adb,
    /// OpenHarmony
    Hdc,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Adb => "adb",
            Self::Hdc => "hdc",
        }
    }
}

/// Put the agent on a board.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How to reach the board
    #[arg(value_name = "WAY")]
    pub(crate) way: Way,
    /// The board: USER@HOST, serial number of adb, or connect key of hdc
    ///
    /// By network, adb and hdc take ADDRESS:PORT; hdc also takes a serial line, DEVICE,BAUD. Adb and hdc
    /// need no name if only one board is connected.
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Record to a file on the board, without a port, and fetch the file
    ///
    /// Needs a command or --name after `--`. Ctrl-C ends the recording and the command. If the connection
    /// breaks, the recording goes on; --resume --file waits for it and fetches it.
    #[arg(long)]
    pub(crate) file: bool,
    /// Output file of --file
    #[arg(long, short, value_name = "FILE", default_value = "recording.pfi")]
    pub(crate) out: PathBuf,
    /// End the agent and the forwarding that this command made, and remove its files
    #[arg(long, conflicts_with_all = ["file", "resume", "what"])]
    pub(crate) stop: bool,
    /// Connect and forward again after the connection broke, and leave the agent running
    ///
    /// A capture that is waiting continues, with nothing lost. The agent keeps its session for a minute;
    /// start the capture with --reconnect 60 to use all of it.
    #[arg(long, conflicts_with_all = ["replace", "what"])]
    pub(crate) resume: bool,
    /// End a capture in progress on the board, if there is one
    ///
    /// With --stop, an agent that this computer did not push, too.
    #[arg(long)]
    pub(crate) replace: bool,
    /// The agent to copy (default: the one for the board's machine)
    ///
    /// Looked for as profinfer-agent-MACHINE in the folder $PROFINFER_AGENTS, in `agents` next to this
    /// program, in ../lib/profinfer/agents from there, and where scripts/build-agent.sh puts it.
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// Folder on the board (default: ssh /tmp/profinfer, others /data/local/tmp)
    #[arg(long, value_name = "DIR", value_parser = dir)]
    pub(crate) dir: Option<String>,
    /// Port on this machine (default: that of the last push to this board, or 7817)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Port on the loopback address of the board (default: that of the last push, or 7817)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) board_port: Option<u16>,
    /// Do not forward: the agent listens on the network, for hosts with this key
    ///
    /// Makes a missing key, and copies it to the board.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) key: Option<PathBuf>,
    /// Network address of the board (default: that of TARGET)
    #[arg(long, value_name = "HOST", requires = "key")]
    pub(crate) address: Option<String>,
    /// Options of ssh, for example '-p 2222 -i KEY' (default: those of the last push to this board)
    ///
    /// ~/.ssh/config may have them too.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub(crate) ssh_options: Option<String>,
    /// Longest time for one answer of the board, in seconds; copies get more, by their size
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Show the commands, and run none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What to trace: a command, or options of the agent (--name 'llama*', --pid N)
    ///
    /// Without it, `analyze` names the engine when it connects (--target).
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) what: Vec<String>,
}

impl Options {
    /// What to trace, as arguments of the agent. A command follows its separate `--`.
    pub(super) fn agent_arguments(&self) -> Vec<String> {
        let command = self.what.first().is_some_and(|word| !word.starts_with('-'));
        command.then(|| "--".to_owned()).into_iter().chain(self.what.iter().cloned()).collect()
    }

    /// The extra words of `ssh`.
    pub(super) fn ssh_words(&self) -> Option<Vec<String>> {
        Some(self.ssh_options.as_ref()?.split_whitespace().map(str::to_owned).collect())
    }
}

/// The folder is part of many command lines, so it has no characters with a meaning there.
fn dir(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
    let wrong = if !text.starts_with('/') {
        "give an absolute path on the board"
    } else if !plain {
        "use only letters, digits and ./_-"
    } else {
        return Ok(text.to_owned());
    };
    Err(format!("{wrong}, for example /data/local/tmp"))
}
