//! A board reached with hdc (OpenHarmony). hdc exits with status 0 whatever happens, so its output
//! is read instead.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::connector::{Connector, Forwarding, there};
use super::run::{Answer, Call, Host};
use super::state::{Ports, Store};
use crate::shell::Quoting;
use crate::{Diagnostic, Result};

/// A connected board answers within this time, or its connection is dead.
const PROBE: Duration = Duration::from_secs(8);
/// Times to look whether the daemon is back after it started anew as root.
const LOOKS: u32 = 20;

pub(super) struct Hdc {
    target: Option<String>,
    store: Store,
}

impl Hdc {
    pub(super) fn new(target: Option<&str>, store: Store) -> Self {
        Self { target: target.map(canonical), store }
    }

    fn key(&self) -> &str {
        self.target.as_deref().unwrap_or("CONNECTKEY")
    }

    /// A call for this board.
    fn call<'a>(&self, words: &[&str]) -> Call<'a> {
        Call::new(["hdc", "-t", self.key()].iter().chain(words).copied())
    }

    /// Connects by network or serial line, and shows hdc's answer.
    fn connect(&self, host: &Host) -> Result<Answer> {
        let key = self.key();
        let number = key.rsplit([':', ',']).next().unwrap_or_default();
        // A port that is no number ends the server of some versions.
        if number.parse::<u32>().is_err() {
            return Err(Diagnostic::new(
                format!("connecting to the board `{key}`"),
                "it is no address of a board",
                "by network ADDRESS:PORT, by serial line DEVICE,BAUD: for example 192.168.1.7:10178 or /dev/ttyUSB0,921600",
            ));
        }
        let answer = ask(host, &Call::new(["hdc", "tconn", key]))?;
        if !host.dry {
            host.note(if answer.text.is_empty() { "hdc answers nothing" } else { &answer.text });
        }
        Ok(answer)
    }

    /// Replaces a connection that hdc believes in, but that carries nothing.
    fn connect_anew(&self, host: &Host) -> Result<()> {
        let alive =
            ask(host, &self.call(&["shell", "echo alive"]).limit(PROBE)).is_ok_and(|a| a.says("alive"));
        if !alive && !host.dry {
            ask(host, &Call::new(["hdc", "tconn", self.key(), "-remove"]))?;
            self.connect(host)?;
        }
        Ok(())
    }

    /// By network or serial line.
    fn can_be_connected(&self) -> bool {
        self.target.as_ref().is_some_and(|key| key.contains([':', ',']))
    }

    /// The connected board, if there is only one.
    fn only_board(&self, answer: &Answer) -> Result<String> {
        let all = targets(&answer.text);
        let connected: Vec<&str> = all.iter().filter(|t| t.state == CONNECTED).map(|t| t.key).collect();
        match connected.as_slice() {
            [key] => Ok((*key).to_owned()),
            [] if all.iter().any(Target::is_unauthorized) => Err(unauthorized(answer)),
            [] => Err(answer.error(
                "looking for a board connected by hdc",
                "plug in its USB cable and switch on USB debugging in its developer options; by network: analyze push \
                 hdc ADDRESS:10178; by serial line: hdc tconn PORT,921600",
            )),
            [first, ..] => Err(answer.error(
                "choosing among several boards of hdc",
                format!("name one: analyze push hdc {first}"),
            )),
        }
    }

    /// Whether a rule is for this board. Up to SDK 4.0, hdc does not name the board of a rule: then
    /// it is that of the push that made it, else the only connected board.
    fn owns(&self, host: &Host, rule: &Rule<'_>, ports: Ports) -> Result<bool> {
        if let Some(board) = rule.board {
            return Ok(board == self.key());
        }
        if self.store.other_owner(super::Way::Hdc, self.key(), ports.here).is_some() {
            return Ok(false);
        }
        if self.store.of(super::Way::Hdc, Some(self.key())).iter().any(|p| p.ports() == Some(ports)) {
            return Ok(true);
        }
        let answer = list(host)?;
        let mut connected = targets(&answer.text).into_iter().filter(|t| t.state == CONNECTED);
        Ok(connected.next().is_some_and(|t| t.key == self.key()) && connected.next().is_none())
    }
}

/// hdc lists `localhost` by its address.
fn canonical(key: &str) -> String {
    key.strip_prefix("localhost:").map_or_else(|| key.to_owned(), |port| format!("127.0.0.1:{port}"))
}

const CONNECTED: &str = "Connected";

/// A board in the list of hdc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target<'a> {
    key: &'a str,
    /// `Connected`, `Unauthorized`; of entries that stay when a board is gone, `Offline` or
    /// `Unknown`; `Ready` of a serial line that was not opened.
    state: &'a str,
}

impl Target<'_> {
    fn is_unauthorized(&self) -> bool {
        self.state.starts_with("Unauth")
    }
}

/// The boards of `list targets -v`: key, kind of link, state, host, program.
fn targets(text: &str) -> Vec<Target<'_>> {
    let target = |line| {
        let mut words = str::split_whitespace(line);
        Some(Target { key: words.next()?, state: words.nth(1)? })
    };
    text.lines().filter_map(target).collect()
}

/// A rule of `fport ls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rule<'a> {
    /// `None` up to SDK 4.0.
    board: Option<&'a str>,
    here: &'a str,
    there: &'a str,
}

/// The rules from this machine to boards: `KEY    tcp:A tcp:B    [Forward]`; up to SDK 4.0
/// `'tcp:A tcp:B'<tab>[Forward]`.
fn rules(text: &str) -> Vec<Rule<'_>> {
    text.lines().filter_map(rule).collect()
}

fn rule(line: &str) -> Option<Rule<'_>> {
    let words: Vec<&str> = line.split([' ', '\t', '\'']).filter(|word| !word.is_empty()).collect();
    match *words {
        [board, here, there, "[Forward]"] => Some(Rule { board: Some(board), here, there }),
        [here, there, "[Forward]"] => Some(Rule { board: None, here, there }),
        _ => None,
    }
}

/// Runs hdc, and reads success or failure from its output.
fn ask(host: &Host, call: &Call<'_>) -> Result<Answer> {
    host.run(call).map(read)
}

/// hdc up to SDK 4.1 mixes its log into the output.
fn read(answer: Answer) -> Answer {
    let log = |line: &&str| !["[W][", "[D][", "[I]["].iter().any(|mark| line.starts_with(*mark));
    let text = answer.text.lines().filter(log).collect::<Vec<_>>().join("\n");
    let failed = ["[Fail]", "[E00", "Connect server failed"].iter().any(|part| text.contains(part));
    Answer { text, status: if failed { 1 } else { answer.status } }
}

fn list(host: &Host) -> Result<Answer> {
    let answer = ask(host, &Call::new(["hdc", "list", "targets", "-v"]))?;
    if answer.ok() { Ok(answer) } else { Err(refused(&answer, "listing the boards of hdc")) }
}

fn unauthorized(answer: &Answer) -> Diagnostic {
    answer.error(
        "using the board, which has not allowed this machine",
        "allow it in the dialog on the board's screen, and run this again. Only if it was denied: hdc kill, then run this again",
    )
}

/// The error of a call that failed, which names the cause if hdc gives it.
fn refused(answer: &Answer, tried: &str) -> Diagnostic {
    if answer.says("nauthorized") || answer.says("E000002") {
        return unauthorized(answer);
    }
    if answer.says("Connect server failed") {
        return answer.error(
            "reaching hdc's own server",
            "does another program have its port (8710, or OHOS_HDC_SERVER_PORT)? Else: hdc kill -r, and run this again",
        );
    }
    let no_board = ["need connect-key", "Not match target", "not founded or connected", "E001005"];
    if no_board.iter().any(|part| answer.says(part)) {
        return answer.error("finding the board", "list the known boards: hdc list targets -v");
    }
    answer.error(tried, "restart its server: hdc kill -r; then hdc list targets -v")
}

impl Connector for Hdc {
    fn default_dir(&self) -> &'static str {
        "/data/local/tmp"
    }

    fn reach(&mut self, host: &Host, again: bool) -> Result<()> {
        let mut answer = list(host)?;
        let state = |answer: &Answer, key: &str| {
            targets(&answer.text).iter().find(|t| t.key == key).map(|t| t.state.to_owned())
        };
        let mut said = String::new();
        if let Some(key) = self.target.clone().filter(|_| self.can_be_connected()) {
            match state(&answer, &key).as_deref() {
                Some(CONNECTED) if !again => {}
                Some(CONNECTED) => {
                    self.connect_anew(host)?;
                    answer = list(host)?;
                }
                Some(other) if other.starts_with("Unauth") => {}
                // An entry of a board that was switched off stays, as Offline.
                _ => {
                    said = self.connect(host)?.text;
                    answer = list(host)?;
                }
            }
        }
        if host.dry {
            return Ok(());
        }
        let key = match &self.target {
            Some(key) => key.clone(),
            None => self.only_board(&answer)?,
        };
        let state = state(&answer, &key);
        let listed = if answer.text.is_empty() { "no targets" } else { &answer.text };
        let shown = Answer { text: format!("{listed}\n{said}"), status: 0 };
        match state.as_deref() {
            Some(CONNECTED) => {}
            Some(other) if other.starts_with("Unauth") => return Err(unauthorized(&shown)),
            Some(other) => {
                let tried = format!("using the board `{key}`, which hdc lists as {other}");
                return Err(shown.error(
                    tried,
                    "is it on, and reachable at this address? Then hdc kill -r; else plug it in again",
                ));
            }
            None => {
                return Err(shown.error(
                    format!("looking for the board with the connect key `{key}`"),
                    "name one of those",
                ));
            }
        }
        self.target = Some(key);
        Ok(())
    }

    fn target(&self) -> &str {
        self.key()
    }

    fn address(&self) -> Option<String> {
        self.key().rsplit_once(':').map(|(address, _)| address.to_owned())
    }

    fn quoting(&self) -> Quoting {
        Quoting::NoDoubleQuotes
    }

    fn shell(&self, line: &str) -> Vec<String> {
        ["hdc", "-t", self.key(), "shell", line].map(str::to_owned).to_vec()
    }

    fn become_root(&mut self, host: &Host) -> Result<Vec<&'static str>> {
        if there(host, &*self, "id -u")?.word() == "0" || host.dry {
            return Ok(Vec::new());
        }
        let mut said = ask(host, &self.call(&["smode"]))?;
        if said.ok() {
            // The daemon starts anew.
            for _ in 0..LOOKS {
                sleep(Duration::from_millis(500));
                if self.key().contains(':') {
                    let _ = ask(host, &Call::new(["hdc", "tconn", self.key()]).quiet());
                }
                let answer = ask(host, &Call::new(["hdc", "list", "targets", "-v"]).quiet())?;
                if targets(&answer.text).iter().any(|t| t.key == self.key() && t.state == CONNECTED) {
                    break;
                }
            }
            let user = there(host, &*self, "id -u")?;
            if user.word() == "0" {
                return Ok(Vec::new());
            }
            said.text = format!("user {} after hdc smode", user.word());
        }
        Err(said.error(
            "becoming root on the board (attaching probes needs root)",
            "hdc smode gives root on images built for development (const.debuggable is 1): install one of those",
        ))
    }

    fn put(&self, host: &Host, from: &Path, to: &str, limit: Duration) -> Result<Answer> {
        ask(host, &self.call(&["file", "send", &from.to_string_lossy(), to]).limit(limit))
            .map(|a| finished(host, a))
    }

    fn get(&self, host: &Host, from: &str, to: &Path, limit: Duration) -> Result<Answer> {
        ask(host, &self.call(&["file", "recv", from, &to.to_string_lossy()]).limit(limit))
            .map(|a| finished(host, a))
    }

    fn forwarding(&self, host: &Host, ports: Ports) -> Result<Forwarding> {
        let answer = ask(host, &Call::new(["hdc", "fport", "ls"]))?;
        let (here, there) = (format!("tcp:{}", ports.here), format!("tcp:{}", ports.there));
        let Some(rule) = rules(&answer.text).into_iter().find(|rule| rule.here == here) else {
            return Ok(Forwarding::None);
        };
        if rule.there == there && self.owns(host, &rule, ports)? {
            return Ok(Forwarding::Ours);
        }
        let owner = self.store.other_owner(super::Way::Hdc, self.key(), ports.here).map(|p| p.target);
        let board =
            rule.board.map(str::to_owned).or(owner).unwrap_or_else(|| "that it does not name".to_owned());
        Ok(Forwarding::Taken(format!("hdc forwards it to {} of the board {board}", rule.there)))
    }

    fn forward(&mut self, host: &Host, ports: Ports) -> Result<Answer> {
        let (here, there) = (format!("tcp:{}", ports.here), format!("tcp:{}", ports.there));
        let answer = ask(host, &self.call(&["fport", &here, &there]))?;
        let ok = host.dry || (answer.ok() && answer.says("result:OK"));
        Ok(Answer { status: i32::from(!ok), ..answer })
    }

    fn unforward(&mut self, host: &Host, ports: Ports) -> Result<()> {
        if host.dry || self.forwarding(host, ports)? == Forwarding::Ours {
            let (here, there) = (format!("tcp:{}", ports.here), format!("tcp:{}", ports.there));
            ask(host, &Call::new(["hdc", "fport", "rm", &here, &there]))?;
        }
        Ok(())
    }

    fn close(&mut self, _host: &Host) -> Result<()> {
        Ok(())
    }
}

/// Whether a transfer is complete.
fn finished(host: &Host, answer: Answer) -> Answer {
    let ok = host.dry || (answer.ok() && answer.says("FileTransfer finish"));
    Answer { status: i32::from(!ok), ..answer }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Rule, Target, canonical, read, refused, rules, targets};

    /// As the hdc of SDK 3.2, 4.0, 4.1, 5.0.3 and 7.0 print it.
    #[test]
    fn lists_of_boards() {
        let text = "7001005458323933328a\t\tUSB\tConnected\tlocalhost\thdc\n127.0.0.1:10178\t\tTCP\tOffline\t\thdc\n\
                    10.0.0.9:10178\t\tTCP\tUnknown\t\t\n/dev/ttyS9,921600\t\tUART\tReady\t\thdc\n\
                    0A\t\tUSB\tUnauthorized\t\thdc\n";
        let all = targets(text);
        let of = |key, state| Target { key, state };
        assert_eq!(
            all,
            [
                of("7001005458323933328a", "Connected"),
                of("127.0.0.1:10178", "Offline"),
                of("10.0.0.9:10178", "Unknown"),
                of("/dev/ttyS9,921600", "Ready"),
                of("0A", "Unauthorized"),
            ]
        );
        assert!(all[4].is_unauthorized() && !all[0].is_unauthorized());
        assert!(targets("[Empty]").is_empty() && targets("").is_empty());
    }

    #[test]
    fn lists_of_rules() {
        // From 4.1 on with the key.
        let keyed = "7001005458323933328a    tcp:7817 tcp:7818    [Forward]\n127.0.0.1:10178    tcp:9000 localabstract:x    [Forward]\n\
                     0A    tcp:1 tcp:2    [Reverse]\n";
        assert_eq!(
            rules(keyed),
            [
                Rule { board: Some("7001005458323933328a"), here: "tcp:7817", there: "tcp:7818" },
                Rule { board: Some("127.0.0.1:10178"), here: "tcp:9000", there: "localabstract:x" },
            ]
        );
        // Up to 4.0 without.
        let keyless = "'tcp:7817 tcp:7818'\t[Forward]\n'tcp:1 tcp:2'\t[Reverse]\n";
        assert_eq!(rules(keyless), [Rule { board: None, here: "tcp:7817", there: "tcp:7818" }]);
        assert!(rules("[Empty]").is_empty() && rules("").is_empty() && rules("[Forward]").is_empty());
    }

    #[test]
    fn what_hdc_means() {
        let of = |text: &str| read(Answer { text: text.to_owned(), status: 0 });
        let logged =
            of("[W][2026-01-01 00:00:00] FreeChannelContinue handle->data is nullptr\nForwardport result:OK");
        assert_eq!((logged.text.as_str(), logged.ok()), ("Forwardport result:OK", true));
        for text in
            ["[Fail]Connect failed", "[Fail][E001005] Device not found or connected", "Connect server failed"]
        {
            assert!(!of(text).ok(), "{text}");
        }
        let tried = |text: &str| refused(&of(text), "x").tried;
        assert!(tried("Connect server failed").contains("own server"));
        assert!(tried("[Fail]ExecuteCommand need connect-key?").contains("finding the board"));
        assert!(tried("[Fail][E001005] Device not found or connected").contains("finding the board"));
        assert!(tried("[Fail][E000002]:The device unauthorized.").contains("not allowed"));
        assert_eq!(tried("[Fail]Other"), "x");
        assert_eq!(canonical("localhost:10178"), "127.0.0.1:10178");
        assert_eq!(canonical("localhost"), "localhost");
    }
}
