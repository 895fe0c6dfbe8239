//! From a path with `*` to the files that exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::request::limits::place::{self, fits};

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Path that the agent opens.
    pub file: PathBuf,
    /// Its path on the board.
    pub path: String,
    /// The name that the first component with `*` matched; empty without a `*`.
    pub which: String,
}

/// Most files and folders that are examined for one path: boards have tens of each kind.
const MOST: usize = 1024;

/// The files under `root` that match, in order of their numbers (`policy0`, `policy4`, `policy10`).
///
/// # Errors Why the path is refused. A host may only name files in which the kernel exposes
/// sensors.
pub fn expand(root: &Path, pattern: &str) -> Result<Vec<Found>, &'static str> {
    place::check(pattern)?;
    let mut found = vec![Found { file: root.to_owned(), path: String::new(), which: String::new() }];
    for part in pattern.split('/').skip(1) {
        found = found.iter().flat_map(|f| children(f, part)).take(MOST + 1).collect();
        if found.len() > MOST {
            return Err("more than 1024 files match the path");
        }
    }
    found.retain(|f| f.file.is_file() && within(root, &f.file));
    Ok(found)
}

/// The kernel's own links stay within its file systems. A link made by others (in a folder that is
/// mounted there) may not.
fn within(root: &Path, file: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(real_file) = real(file) else { return false };
    ["sys", "proc"].iter().filter_map(|tree| real(&root.join(tree))).any(|tree| real_file.starts_with(tree))
}

fn children(parent: &Found, part: &str) -> Vec<Found> {
    let child = |name: &str| Found {
        file: parent.file.join(name),
        path: format!("{}/{name}", parent.path),
        which: parent.which.clone(),
    };
    if !part.contains('*') {
        return Some(child(part)).filter(|c| c.file.exists()).into_iter().collect();
    }
    let entries = fs::read_dir(&parent.file).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.retain(|name| fits(name, part));
    names.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let which = |name: String| if parent.which.is_empty() { name } else { parent.which.clone() };
    names.into_iter().map(|name| Found { which: which(name.clone()), ..child(&name) }).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn files_in_order_of_their_numbers() {
        let root = tempfile::tempdir().unwrap();
        for zone in ["thermal_zone10", "thermal_zone2", "cooling_device0"] {
            let dir = root.path().join("sys/class/thermal").join(zone);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("temp"), "1").unwrap();
        }
        fs::create_dir_all(root.path().join("sys/class/thermal/thermal_zone3")).unwrap();
        let of = |pattern| {
            let found = expand(root.path(), pattern).unwrap();
            found.into_iter().map(|f| (f.which, f.path)).collect::<Vec<_>>()
        };
        let zone = |z: &str| (z.to_owned(), format!("/sys/class/thermal/{z}/temp"));
        assert_eq!(
            of("/sys/class/thermal/thermal_zone*/temp"),
            [zone("thermal_zone2"), zone("thermal_zone10")]
        );
        assert_eq!(of("/sys/class/thermal/thermal_zone2/temp")[0].0, "");
        assert_eq!(of("/sys/class/thermal/nothing*/temp"), []);
        assert!(expand(root.path(), "/etc/shadow").is_err());
    }

    #[test]
    fn no_link_leads_out() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str| root.path().join(path);
        fs::create_dir_all(file("sys/class/thermal")).unwrap();
        fs::create_dir_all(file("sys/devices/virtual/zone")).unwrap();
        fs::create_dir_all(file("etc/zone")).unwrap();
        for place in ["sys/devices/virtual/zone", "etc/zone"] {
            fs::write(file(place).join("temp"), "1").unwrap();
        }
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, file("sys/class/thermal").join(name)).unwrap();
        };
        link("../../devices/virtual/zone", "zone1");
        link("../../../etc/zone", "zone2");
        let found = expand(root.path(), "/sys/class/thermal/zone*/temp").unwrap();
        let paths: Vec<&str> = found.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["/sys/class/thermal/zone1/temp"]);
        fs::create_dir(file("sys/class/hwmon")).unwrap();
        for n in 0..=MOST {
            fs::write(file("sys/class/hwmon").join(format!("n{n}")), "1").unwrap();
        }
        assert!(expand(root.path(), "/sys/class/hwmon/*").is_err());
    }
}
