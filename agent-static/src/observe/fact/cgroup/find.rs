//! Finds the control group of a process in the file system.
//!
//! ```text
//! /proc/PID/cgroup       4:cpu,cpuacct:/docker/ab        path within a hierarchy
//! /proc/self/mountinfo   … /docker/ab /sys/fs/cgroup/cpu … - cgroup cgroup rw,cpu,cpuacct
//!                          └ the mounted part of the hierarchy, and its mount point: the path starts there
//! ```

use std::path::{Path, PathBuf};

use super::super::read;

/// Most levels that are examined, from the process's own group upwards.
const MAX_LEVELS: usize = 32;
/// Most bytes of either file. Mounts of containers make the second one long.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// 1 or 2.
    pub(super) version: u64,
    /// Its path in the hierarchy, as the agent sees it.
    pub(super) path: String,
    /// Folders of the group and of its mounted parents.
    pub(super) levels: Vec<PathBuf>,
}

/// The mounted part of a hierarchy, and its mount point.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    root: String,
    point: String,
}

/// Membership and mounts of a process's groups.
#[derive(Debug)]
pub(super) struct Groups {
    root: PathBuf,
    memberships: String,
    mounts: String,
}

impl Groups {
    pub(super) fn new(root: &Path, pid: u32) -> Result<Self, String> {
        let memberships = contents(root, &format!("/proc/{pid}/cgroup"))?;
        let mounts = contents(root, "/proc/self/mountinfo")?;
        Ok(Self { root: root.to_owned(), memberships, mounts })
    }

    /// The process's group in the hierarchy of a controller.
    pub(super) fn of_controller(&self, controller: &str) -> Result<Group, String> {
        // number:controllers:path; a version 2 hierarchy has number 0 and lists no controllers.
        let lines = || self.memberships.lines().filter_map(|l| Some((l, l.splitn(3, ':').nth(2)?)));
        let own =
            |line: &str| line.split(':').nth(1).is_some_and(|list| list.split(',').any(|c| c == controller));
        match lines().find(|(line, _)| own(line)) {
            Some((_, path)) => self.group(path, Some(controller)),
            None => self.unified(),
        }
    }

    /// The process's group in the hierarchy of version 2.
    pub(super) fn unified(&self) -> Result<Group, String> {
        let path = self.memberships.lines().find_map(|line| line.strip_prefix("0::"));
        self.group(path.ok_or_else(|| "no control group of version 2 has the process".to_owned())?, None)
    }

    /// The group at `path` in the hierarchy of version 2, or in that of a controller of version 1.
    fn group(&self, path: &str, controller: Option<&str>) -> Result<Group, String> {
        let mut mounts = mounts(&self.mounts, controller).peekable();
        if mounts.peek().is_none() {
            let of = controller.unwrap_or("version 2");
            return Err(format!("the control groups of {of} are not mounted"));
        }
        let version = if controller.is_some() { 1 } else { 2 };
        let levels = mounts.find_map(|mount| levels(&self.root, &mount, path));
        let why = || format!("the control group {path} is not in the hierarchy that is mounted here");
        Ok(Group { version, path: path.to_owned(), levels: levels.ok_or_else(why)? })
    }
}

fn contents(root: &Path, path: &str) -> Result<String, String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(read::at(root, path)).and_then(|f| f.take(MAX_BYTES).read_to_end(&mut bytes));
    read.map_err(|e| read::why(path, &e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The mounts of a version 1 controller, or of version 2.
fn mounts<'t>(mountinfo: &'t str, controller: Option<&'t str>) -> impl Iterator<Item = Mount> + 't {
    mountinfo.lines().filter_map(move |line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let mut kind = file_system.split(' ');
        let fits = match (kind.next()?, controller) {
            ("cgroup", Some(controller)) => kind.nth(1)?.split(',').any(|option| option == controller),
            ("cgroup2", None) => true,
            _ => false,
        };
        fits.then_some(Mount { root: unescaped(fields.next()?), point: unescaped(fields.next()?) })
    })
}

/// The kernel writes spaces, tabs, line ends and backslashes in paths as three octal digits.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (code, character)| path.replace(code, character))
}

/// The folders from the group up to the mount point; `None` if the group is not below the mounted
/// part.
fn levels(root: &Path, mount: &Mount, path: &str) -> Option<Vec<PathBuf>> {
    let below = match mount.root.as_str() {
        "/" => path,
        mounted => path.strip_prefix(mounted).filter(|rest| rest.is_empty() || rest.starts_with('/'))?,
    };
    // Groups outside of the agent's namespace have `..` in their path.
    if below.split('/').any(|part| part == "..") {
        return None;
    }
    let top = read::at(root, &mount.point);
    let own = below.split('/').filter(|part| !part.is_empty()).fold(top.clone(), |at, part| at.join(part));
    own.is_dir().then(|| {
        own.ancestors().take(MAX_LEVELS).take_while(|at| at.starts_with(&top)).map(Path::to_owned).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_a_controller_and_of_version_2() {
        let text = "32 31 0:29 /docker/a\\040b /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                    33 31 0:30 / /sys/fs/cgroup/cpuset rw shared:4 - cgroup cgroup rw,cpuset\n\
                    41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                    42 31 0:39 / /cpu rw - ext4 /dev/cpu rw,cpu\nnonsense - cgroup\n";
        let of = |controller| mounts(text, controller).map(|m| (m.root, m.point)).collect::<Vec<_>>();
        let is = |root: &str, point: &str| vec![(root.to_owned(), point.to_owned())];
        assert_eq!(of(Some("cpu")), is("/docker/a b", "/sys/fs/cgroup/cpu,cpuacct"));
        assert_eq!(of(Some("cpuset")), is("/", "/sys/fs/cgroup/cpuset"));
        assert_eq!(of(Some("memory")), []);
        assert_eq!(of(None), is("/", "/sys/fs/cgroup/unified"));
    }
}
