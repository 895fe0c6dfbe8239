//! Whether the kernel froze a process with its control group: by the freezer of version 1, or by version 2. `docker pause`
//! and Android do.

use profinfer_wire::record::fact::FactScope;

use super::super::read::{Open, field};
use super::super::send::{Changing, Sender};
use super::find::{Group, Groups};

const NAME: &str = "cgroup.frozen";

/// Files that state it, of each hierarchy with a freezer.
#[derive(Debug)]
pub(super) struct Frozen {
    files: Vec<Open>,
    sent: Changing,
}

impl Frozen {
    pub(super) fn begin(
        groups: Result<&Groups, String>,
        scope: FactScope,
        buffer: &mut [u8],
        out: &mut Sender<'_>,
    ) -> Self {
        let files = groups.as_ref().map_or_else(|_| Vec::new(), |groups| files(groups));
        let none = || "no control group of the process can be frozen".to_owned();
        let state = groups.and_then(|_| state(&files, buffer).ok_or_else(none));
        let mut sent = Changing::default();
        sent.begin(out, scope, NAME, state);
        Self { files, sent }
    }

    pub(super) fn sample(&mut self, scope: FactScope, buffer: &mut [u8], out: &mut Sender<'_>) {
        self.sent.send(out, scope, NAME, state(&self.files, buffer));
    }
}

fn files(groups: &Groups) -> Vec<Open> {
    let one = groups.of_controller("freezer").ok().filter(|group| group.version == 1);
    let files = [(one, "freezer.state"), (groups.unified().ok(), "cgroup.events")];
    // The outermost groups have no such file: they are never frozen.
    let open = |(group, name): (Option<Group>, &str)| Open::new(group?.levels.first()?, name).ok();
    files.into_iter().filter_map(open).collect()
}

/// 1 if a hierarchy has frozen the group, with those of its parents that are; `None` if no file can be read.
fn state(files: &[Open], buffer: &mut [u8]) -> Option<u64> {
    let mut state = None;
    for file in files {
        let Ok(text) = file.read(buffer) else { continue };
        let frozen = field(text, "frozen ").map_or_else(|| text.trim_ascii() == b"FROZEN", |n| n == b"1");
        state = state.max(Some(u64::from(frozen)));
    }
    state
}
