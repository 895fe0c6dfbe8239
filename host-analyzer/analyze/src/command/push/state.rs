//! What earlier pushes made, in the user's state folder: `--stop` and `--resume` touch only that.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::options::{PORT, Way};
use crate::{Diagnostic, Result, user_state};

/// A port of this machine, and the port of the board to which it is forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ports {
    pub(super) here: u16,
    pub(super) there: u16,
}

/// An agent on a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pushed {
    /// `ssh`, `adb` or `hdc`.
    pub(super) way: String,
    pub(super) target: String,
    /// Folder on the board.
    pub(super) dir: String,
    /// Forwarded port of this machine; `None` with a key, and for a recording.
    pub(super) port: Option<u16>,
    pub(super) board_port: u16,
    /// Process of this machine that forwards, where the connection needs one.
    #[serde(default)]
    pub(super) tunnel: Option<u32>,
    /// Options of ssh, so that --resume and --stop need not repeat them.
    #[serde(default)]
    pub(super) ssh_options: Vec<String>,
}

impl Pushed {
    pub(super) fn ports(&self) -> Option<Ports> {
        Some(Ports { here: self.port?, there: self.board_port })
    }

    fn file_name(&self) -> String {
        let key = format!("{}\n{}\n{}", self.way, self.target, self.dir);
        let letters: String = self.target.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        format!("{}-{letters}-{:08x}.json", self.way, crc(key.as_bytes()))
    }
}

/// A number for a name.
pub(super) fn crc(bytes: &[u8]) -> u32 {
    crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes)
}

/// The folder of the user's pushes. Without a home folder nothing is kept.
#[derive(Debug, Clone)]
pub(super) struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    pub(super) fn of_user() -> Self {
        Self { folder: user_state::folder("push") }
    }

    pub(super) fn folder(&self) -> Option<&PathBuf> {
        self.folder.as_ref()
    }

    /// Everything that is kept, sorted by file. A file that something else wrote counts as absent.
    pub(super) fn all(&self) -> Vec<Pushed> {
        let entries = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let mut paths: Vec<PathBuf> =
            entries.into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
        paths.iter().filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect()
    }

    /// The pushes of one way, to one board if it is named.
    pub(super) fn of(&self, way: Way, target: Option<&str>) -> Vec<Pushed> {
        let mut all = self.all();
        all.retain(|p| p.way == way.name() && target.is_none_or(|t| t == p.target));
        all
    }

    /// The other board to which an earlier push forwards this port.
    pub(super) fn other_owner(&self, way: Way, target: &str, here: u16) -> Option<Pushed> {
        self.all().into_iter().find(|p| p.port == Some(here) && (p.way != way.name() || p.target != target))
    }

    pub(super) fn put(&self, pushed: &Pushed) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = folder.join(pushed.file_name());
        let written = fs::create_dir_all(folder).and_then(|()| {
            let partial = path.with_extension("part");
            fs::write(&partial, serde_json::to_vec(pushed)?)?;
            fs::rename(partial, &path)
        });
        written.map_err(|e| {
            let help = "make the folder writable, or name another one with XDG_STATE_HOME: --stop needs it";
            Diagnostic::new(format!("writing {}", path.display()), e, help)
        })
    }

    pub(super) fn remove(&self, pushed: &Pushed) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = folder.join(pushed.file_name());
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(Diagnostic::new(format!("removing {}", path.display()), e, "remove it by hand"))
            }
            _ => Ok(()),
        }
    }
}

/// The ports of a push: those of the command line, else those of the last push to this folder of the
/// board.
pub(super) fn ports(options: &super::Options, earlier: Option<&Pushed>) -> Ports {
    Ports {
        here: options.port.or(earlier.and_then(|p| p.port)).unwrap_or(PORT),
        there: options.board_port.or(earlier.map(|p| p.board_port)).unwrap_or(PORT),
    }
}

#[cfg(test)]
mod tests {
    use super::{Pushed, Store};
    use crate::command::push::options::Way;

    fn pushed(way: &str, target: &str, port: u16) -> Pushed {
        let (way, target, dir) = (way.to_owned(), target.to_owned(), "/tmp/profinfer".to_owned());
        Pushed { way, target, dir, port: Some(port), board_port: 7817, tunnel: None, ssh_options: Vec::new() }
    }

    #[test]
    fn pushes_are_kept_by_board() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store { folder: Some(folder.path().join("push")) };
        assert!(store.all().is_empty());
        let (a, b) = (pushed("hdc", "10.0.0.1:10178", 7817), pushed("hdc", "1001:0178", 7900));
        for p in [&a, &b, &pushed("ssh", "root@b", 7901), &pushed("hdc", "1001:0178", 7901)] {
            store.put(p).expect("it can be written");
        }
        // The same folder of the same board is one push; similar names are two boards.
        assert_eq!(store.of(Way::Hdc, Some("1001:0178")), [pushed("hdc", "1001:0178", 7901)]);
        assert_eq!(store.of(Way::Hdc, None).len(), 2);
        assert_eq!(store.other_owner(Way::Hdc, "1001:0178", 7817), Some(a.clone()));
        assert_eq!(store.other_owner(Way::Hdc, "10.0.0.1:10178", 7817), None);
        std::fs::write(folder.path().join("push/hdc-x.json"), "something else").expect("it can be written");
        store.remove(&a).expect("it can be removed");
        store.remove(&a).expect("it is gone");
        assert_eq!(store.of(Way::Hdc, None).len(), 1);
    }
}
