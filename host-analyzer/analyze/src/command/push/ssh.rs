//! A board reached with ssh. One background connection carries every command and the forwarded
//! port. Files go through `cat`, because small systems have neither scp nor an sftp server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::connector::{Connector, Forwarding, there};
use super::run::{Answer, Call, Host};
use super::state::{Ports, Pushed, Store, crc};
use crate::shell::{Quoting, shown};
use crate::{Diagnostic, Result, system};

/// A login may ask for a password.
const LOGIN: Duration = Duration::from_secs(120);
/// A connection that exists answers within this time, or it is dead.
const PROBE: Duration = Duration::from_secs(5);
/// Longest path of a socket, less what ssh appends.
const SOCKET_PATH: usize = 80;

pub(super) struct Ssh {
    target: String,
    /// Port, key and more, for the connection.
    options: Vec<String>,
    /// Socket of the background connection. Without one, each command connects.
    control: Option<PathBuf>,
    /// What the last push to this board forwards.
    earlier: Vec<Pushed>,
    /// The background connection existed before.
    connected: bool,
    /// The process that forwards, where there is no background connection.
    tunnel: Option<u32>,
}

impl Ssh {
    /// Without options, those of the last push to this board count.
    pub(super) fn new(target: Option<&str>, options: Option<Vec<String>>, store: &Store) -> Result<Self> {
        let Some(target) = target else {
            return Err(Diagnostic::new(
                "choosing the board",
                "ssh needs its name",
                "analyze push ssh USER@BOARD; port and key: in ~/.ssh/config, or --ssh-options '-p 2222 -i KEY'",
            ));
        };
        let earlier = store.of(super::Way::Ssh, Some(target));
        let last = || earlier.last().map(|p| p.ssh_options.clone()).unwrap_or_default();
        let options = options.unwrap_or_else(last);
        let control = system::SSH_SHARES.then(|| control(target, &options, store)).flatten();
        let tunnel = earlier.iter().find_map(|p| p.tunnel);
        Ok(Self { target: target.to_owned(), options, control, earlier, connected: false, tunnel })
    }

    /// `ssh` and what every call needs. Port and key count only when a connection is made.
    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut words = vec!["ssh"];
        match &self.control {
            Some(path) => words.extend(["-S", path.to_str().unwrap_or_default()]),
            None => words.extend(self.options.iter().map(String::as_str)),
        }
        words.extend(more);
        words.push(&self.target);
        words
    }

    /// Whether the background connection answers. Its process may live while the network is gone.
    fn is_alive(&self, host: &Host) -> bool {
        let quiet = |words: Vec<&str>| host.run(&Call::new(words).quiet().limit(PROBE)).is_ok_and(|a| a.ok());
        if !quiet(self.words(&["-O", "check"])) {
            return false;
        }
        let mut probe = self.words(&[]);
        probe.push("true");
        quiet(probe)
    }

    fn unreachable(&self, answer: &Answer) -> Diagnostic {
        let name = self.target.rsplit('@').next().unwrap_or_default();
        let target = &self.target;
        let (tried, help) = if answer.says("Could not resolve") {
            (
                format!("looking up the name `{name}`"),
                "write its address instead, or an entry of ~/.ssh/config".to_owned(),
            )
        } else if answer.says("Connection refused") {
            (
                format!("connecting to the ssh server of {target}"),
                "start sshd or dropbear on the board; another port: --ssh-options '-p PORT'".to_owned(),
            )
        } else if answer.says("Permission denied") || answer.says("Too many authentication") {
            (
                format!("logging in as `{target}`"),
                format!(
                    "give your key to the board (ssh-copy-id {target}), or name the one it knows: --ssh-options '-i KEY'"
                ),
            )
        } else if answer.says("HOST IDENTIFICATION HAS CHANGED")
            || answer.says("Host key verification failed")
        {
            (
                format!("checking the host key of {target}"),
                format!(
                    "a board that was set up anew has a new one: check that it is yours, then ssh-keygen -R {name}, and ssh {target} once"
                ),
            )
        } else if ["timed out", "No route", "unreachable"].iter().any(|part| answer.says(part)) {
            (
                format!("connecting to {target}"),
                format!("check that the board is on, in this network, and at this address: ping {name}"),
            )
        } else {
            let words = ["ssh"].into_iter().chain(self.options.iter().map(String::as_str));
            let alone = shown(words.chain([target.as_str(), "true"]));
            (format!("connecting to {target}"), format!("try it alone: {alone}"))
        };
        answer.error(tried, help)
    }

    fn drop_connection(&mut self, host: &Host) -> Result<()> {
        if let Some(control) = self.control.clone() {
            if host.dry || control.exists() {
                host.run(&Call::new(self.words(&["-O", "exit"])).limit(PROBE))?;
            }
            // After the process is gone, its socket may stay.
            let _ = fs::remove_file(control);
        }
        Ok(())
    }
}

/// The socket of a board and its options: in the state folder, or in ~/.ssh if that path is long.
fn control(target: &str, options: &[String], store: &Store) -> Option<PathBuf> {
    let name = format!("ssh-{:08x}", crc(format!("{target} {}", options.join(" ")).as_bytes()));
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".ssh"));
    let folders = store.folder().cloned().into_iter().chain(home);
    let path = folders.map(|folder| folder.join(&name)).find(|path| path.as_os_str().len() <= SOCKET_PATH)?;
    fs::create_dir_all(path.parent()?).ok()?;
    path.to_str()?;
    Some(path)
}

/// `-L` for ports of the loopback addresses.
fn rule(ports: Ports) -> String {
    format!("127.0.0.1:{}:127.0.0.1:{}", ports.here, ports.there)
}

impl Connector for Ssh {
    fn default_dir(&self) -> &'static str {
        "/tmp/profinfer"
    }

    fn reach(&mut self, host: &Host, _again: bool) -> Result<()> {
        let Some(control) = self.control.clone() else {
            let mut words = self.words(&["-o", "ConnectTimeout=10"]);
            words.push("true");
            let answer = host.run(&Call::new(words).limit(LOGIN))?;
            return if answer.ok() { Ok(()) } else { Err(self.unreachable(&answer)) };
        };
        self.connected = !host.dry && control.exists() && self.is_alive(host);
        if self.connected {
            host.note("connected already");
            return Ok(());
        }
        if !host.dry && control.exists() {
            host.note("the connection that was there is dead");
            let _ = host.run(&Call::new(self.words(&["-O", "exit"])).limit(PROBE));
            let _ = fs::remove_file(&control);
        }
        let mut words = vec!["ssh".to_owned(), "-S".to_owned(), control.display().to_string()];
        words.extend(self.options.clone());
        let alive = ["ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=2"];
        words.extend(["-M", "-f", "-N"].map(str::to_owned));
        words.extend(alive.iter().flat_map(|o| ["-o".to_owned(), (*o).to_owned()]));
        words.push(self.target.clone());
        let answer = host.run(&Call::new(words).limit(LOGIN))?;
        if answer.ok() { Ok(()) } else { Err(self.unreachable(&answer)) }
    }

    fn target(&self) -> &str {
        &self.target
    }

    fn address(&self) -> Option<String> {
        self.target.rsplit('@').next().map(str::to_owned)
    }

    fn shell(&self, line: &str) -> Vec<String> {
        let mut words: Vec<String> = self.words(&[]).into_iter().map(str::to_owned).collect();
        words.push(line.to_owned());
        words
    }

    fn become_root(&mut self, host: &Host) -> Result<Vec<&'static str>> {
        let user = there(host, &*self, "id -u")?;
        if host.dry || user.word() == "0" {
            return Ok(Vec::new());
        }
        if there(host, &*self, "sudo -n id -u").is_ok_and(|a| a.ok() && a.word() == "0") {
            host.note("not root, but sudo works");
            return Ok(vec!["sudo", "-n", "sh", "-c"]);
        }
        let name = self.target.split('@').next().unwrap_or_default();
        Err(Diagnostic::new(
            format!("becoming root on the board as `{}` (attaching probes needs root)", self.target),
            format!("user {}, and sudo needs a password or is not there", user.word()),
            format!(
                "allow it on the board: echo '{name} ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/profinfer; or log in as root"
            ),
        ))
    }

    fn put(&self, host: &Host, from: &Path, to: &str, limit: Duration) -> Result<Answer> {
        let line = format!("cat >{}", Quoting::Intact.word(to));
        host.run(&Call::new(self.shell(&line)).input(from).limit(limit))
    }

    fn get(&self, host: &Host, from: &str, to: &Path, limit: Duration) -> Result<Answer> {
        let line = format!("cat {}", Quoting::Intact.word(from));
        host.run(&Call::new(self.shell(&line)).output(to).limit(limit))
    }

    fn forwarding(&self, _host: &Host, ports: Ports) -> Result<Forwarding> {
        // Forwarding lasts as long as the connection.
        let lasts = self.connected || self.tunnel.is_some();
        let ours = lasts && self.earlier.iter().any(|p| p.ports() == Some(ports));
        Ok(if ours { Forwarding::Ours } else { Forwarding::None })
    }

    fn forward(&mut self, host: &Host, ports: Ports) -> Result<Answer> {
        if self.control.is_some() {
            return host.run(&Call::new(self.words(&["-O", "forward", "-L", &rule(ports)])));
        }
        let rule = rule(ports);
        let words = self.words(&["-N", "-o", "ExitOnForwardFailure=yes", "-L", &rule]);
        self.tunnel = Some(host.leave(&Call::new(words))?);
        Ok(Answer::default())
    }

    fn unforward(&mut self, host: &Host, ports: Ports) -> Result<()> {
        match (&self.control, self.tunnel.take()) {
            (Some(control), _) if host.dry || control.exists() => {
                host.run(&Call::new(self.words(&["-O", "cancel", "-L", &rule(ports)]))).map(drop)
            }
            (None, Some(pid)) => host.run(&Call::new(system::end_process(pid))).map(drop),
            _ => Ok(()),
        }
    }

    fn close(&mut self, host: &Host) -> Result<()> {
        self.drop_connection(host)
    }

    fn remember(&self, pushed: &mut Pushed) {
        pushed.tunnel = self.tunnel;
        pushed.ssh_options.clone_from(&self.options);
    }
}
