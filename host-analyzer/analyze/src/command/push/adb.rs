//! A board reached with adb: Android, and Linux systems with its daemon.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::connector::{Connector, Forwarding, there};
use super::run::{Answer, Call, Host};
use super::state::Ports;
use crate::{Diagnostic, Result};

/// Time for the daemon to start anew.
const ANEW: Duration = Duration::from_secs(20);

pub(super) struct Adb {
    target: Option<String>,
}

impl Adb {
    pub(super) fn new(target: Option<&str>) -> Self {
        let named = || std::env::var("ANDROID_SERIAL").ok().filter(|s| !s.is_empty());
        Self { target: target.map(str::to_owned).or_else(named) }
    }

    fn serial(&self) -> &str {
        self.target.as_deref().unwrap_or("SERIAL")
    }

    fn by_network(&self) -> bool {
        self.serial().contains(':')
    }

    fn call<'a>(&self, words: &[&str]) -> Call<'a> {
        Call::new(["adb", "-s", self.serial()].iter().chain(words).copied())
    }

    fn connect(&self, host: &Host) -> Result<()> {
        host.run(&Call::new(["adb", "connect", self.serial()])).map(drop)
    }
}

/// Serial number and state of every device in the answer of `adb devices`.
fn devices(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter(|line| !line.starts_with("List of") && !line.starts_with('*'))
        .filter_map(|line| line.split_once(['\t', ' ']))
        .map(|(serial, state)| (serial, state.trim()))
        .filter(|(serial, state)| !serial.is_empty() && state.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

/// Serial number and ports of every rule in the answer of `adb forward --list`.
fn rules<'a>(text: &'a str) -> Vec<(&'a str, &'a str, &'a str)> {
    let rule = |line: &'a str| match *line.split_whitespace().collect::<Vec<_>>() {
        [serial, local, remote] => Some((serial, local, remote)),
        _ => None,
    };
    text.lines().filter_map(rule).collect()
}

fn list(host: &Host) -> Result<Answer> {
    let answer = host.run(&Call::new(["adb", "devices"]))?;
    if answer.ok() {
        return Ok(answer);
    }
    Err(answer
        .error("listing the boards of adb", "run it alone and read its answer: adb kill-server; adb devices"))
}

/// The error of a device that cannot be used.
fn unusable(serial: &str, state: &str) -> Option<Diagnostic> {
    let help = if state == "device" {
        return None;
    } else if state.starts_with("unauthorized") {
        "allow this machine in the dialog on the board's screen. Without a screen: append ~/.android/adbkey.pub to \
         /data/misc/adb/adb_keys on the board, then adb kill-server, and run this again"
            .to_owned()
    } else if state.starts_with("offline") {
        "the board does not answer: adb reconnect offline; else plug it in again, or restart adbd on it"
            .to_owned()
    } else if state.starts_with("no permissions") {
        "this user may not open its USB device: install udev rules (Debian: android-sdk-platform-tools-common), join \
         the group plugdev, plug the board in again"
            .to_owned()
    } else {
        format!("it must be booted to its system: adb -s {serial} reboot")
    };
    Some(Diagnostic::new(format!("using the board {serial}"), state, help))
}

impl Connector for Adb {
    fn default_dir(&self) -> &'static str {
        "/data/local/tmp"
    }

    fn reach(&mut self, host: &Host, again: bool) -> Result<()> {
        let mut answer = list(host)?;
        if let Some(serial) = self.target.clone().filter(|_| self.by_network()) {
            let state = devices(&answer.text).iter().find(|(s, _)| *s == serial).map(|(_, state)| *state);
            if state.is_some_and(|state| state != "device" || again) {
                host.run(&Call::new(["adb", "disconnect", &serial]))?;
            }
            // adb forgets boards by network when its server ends.
            if state != Some("device") || again {
                self.connect(host)?;
                answer = list(host)?;
            }
        }
        if host.dry {
            return Ok(());
        }
        let known = devices(&answer.text);
        let serial = match (&self.target, known.as_slice()) {
            (_, []) => {
                let answer = Answer { text: "no devices".to_owned(), status: 0 };
                return Err(answer.error(
                    "looking for a board connected by adb",
                    "plug in its USB cable and switch on USB debugging in its developer options; by network \
                     (adb tcpip 5555 made it listen): analyze push adb ADDRESS:5555",
                ));
            }
            (Some(serial), _) => serial.clone(),
            (None, [(serial, _)]) => (*serial).to_owned(),
            (None, [(first, _), ..]) => {
                let help = format!("name one: analyze push adb {first}");
                return Err(answer.error("choosing among several boards of adb", help));
            }
        };
        let Some((_, state)) = known.iter().find(|(s, _)| *s == serial) else {
            return Err(answer.error(format!("looking for the board `{serial}`"), "name one of those"));
        };
        if let Some(e) = unusable(&serial, state) {
            return Err(e);
        }
        self.target = Some(serial);
        Ok(())
    }

    fn target(&self) -> &str {
        self.serial()
    }

    fn address(&self) -> Option<String> {
        self.serial().rsplit_once(':').map(|(address, _)| address.to_owned())
    }

    fn shell(&self, line: &str) -> Vec<String> {
        ["adb", "-s", self.serial(), "shell", line].map(str::to_owned).to_vec()
    }

    fn become_root(&mut self, host: &Host) -> Result<Vec<&'static str>> {
        let is_root = |line: &str| there(host, &*self, line).is_ok_and(|a| a.ok() && a.word() == "0");
        if there(host, &*self, "id -u")?.word() == "0" || host.dry {
            return Ok(Vec::new());
        }
        let said = host.run(&self.call(&["root"]))?;
        if !["cannot run as root", "not allowed", "disabled"].iter().any(|part| said.says(part)) {
            // The daemon starts anew.
            sleep(Duration::from_secs(1));
            if self.by_network() {
                self.connect(host)?;
            }
            let _ = host.run(&self.call(&["wait-for-device"]).limit(ANEW));
            if is_root("id -u") {
                return Ok(Vec::new());
            }
        }
        if is_root("su 0 id -u") {
            return Ok(vec!["su", "0", "sh", "-c"]);
        }
        if is_root("su -c 'id -u'") {
            return Ok(vec!["su", "-c"]);
        }
        Err(said.error(
            "becoming root on the board (attaching probes needs root)",
            "neither adb root nor su works: use a userdebug or eng build, where adb root works, or a board with su",
        ))
    }

    fn put(&self, host: &Host, from: &Path, to: &str, limit: Duration) -> Result<Answer> {
        host.run(&self.call(&["push", &from.to_string_lossy(), to]).limit(limit))
    }

    fn get(&self, host: &Host, from: &str, to: &Path, limit: Duration) -> Result<Answer> {
        host.run(&self.call(&["pull", from, &to.to_string_lossy()]).limit(limit))
    }

    fn forwarding(&self, host: &Host, ports: Ports) -> Result<Forwarding> {
        let answer = host.run(&Call::new(["adb", "forward", "--list"]))?;
        let (here, wanted) = (format!("tcp:{}", ports.here), format!("tcp:{}", ports.there));
        Ok(match rules(&answer.text).into_iter().find(|(_, local, _)| *local == here) {
            None => Forwarding::None,
            Some((serial, _, remote)) if serial == self.serial() && remote == wanted => Forwarding::Ours,
            Some((serial, _, remote)) => {
                Forwarding::Taken(format!("adb forwards it to {remote} of the board {serial}"))
            }
        })
    }

    fn forward(&mut self, host: &Host, ports: Ports) -> Result<Answer> {
        let (here, there) = (format!("tcp:{}", ports.here), format!("tcp:{}", ports.there));
        host.run(&self.call(&["forward", "--no-rebind", &here, &there]))
    }

    fn unforward(&mut self, host: &Host, ports: Ports) -> Result<()> {
        if host.dry || self.forwarding(host, ports)? == Forwarding::Ours {
            host.run(&self.call(&["forward", "--remove", &format!("tcp:{}", ports.here)]))?;
        }
        Ok(())
    }

    fn close(&mut self, _host: &Host) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{devices, rules, unusable};

    #[test]
    fn lists_of_adb() {
        let text = "* daemon not running; starting now at tcp:5037\n* daemon started successfully\nList of devices attached\n\
                    0123456789ABCDEF\tdevice\n10.0.0.7:5555\toffline\n\
                    0A\tno permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com]\n\
                    emulator-5554          device product:x\n\n";
        assert_eq!(
            devices(text),
            [
                ("0123456789ABCDEF", "device"),
                ("10.0.0.7:5555", "offline"),
                (
                    "0A",
                    "no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com]"
                ),
                ("emulator-5554", "device product:x"),
            ]
        );
        assert_eq!(devices("List of devices attached\n\n"), []);
        assert_eq!(devices(""), []);
        let list = "10.0.0.7:5555 tcp:7817 tcp:7817\n0A tcp:9000 localabstract:x\nnonsense\n";
        assert_eq!(
            rules(list),
            [("10.0.0.7:5555", "tcp:7817", "tcp:7817"), ("0A", "tcp:9000", "localabstract:x")]
        );
        assert!(unusable("0A", "device").is_none() && unusable("0A", "recovery").is_some());
    }
}
