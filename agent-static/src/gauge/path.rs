//! From a path with `*` to the files that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub file: PathBuf,
    /// Its path on the board.
    pub path: String,
    /// The name that the first component with `*` matched; empty without a `*`.
    pub which: String,
}

/// The files under `root` that match, in order of their numbers (`policy0`, `policy4`, `policy10`).
///
/// # Errors
/// Why the path is refused. A host may only name files by which the kernel describes the machine.
pub fn expand(root: &Path, pattern: &str) -> Result<Vec<Found>, &'static str> {
    let parts: Vec<&str> = pattern.split('/').skip(1).collect();
    let kernels = pattern.starts_with("/sys/") || pattern.starts_with("/proc/");
    if !kernels || parts.iter().any(|p| p.is_empty() || *p == "." || *p == "..") {
        return Err("the path is not within /sys or /proc");
    }
    let mut found = vec![Found { file: root.to_owned(), path: String::new(), which: String::new() }];
    for part in parts {
        found = found.iter().flat_map(|f| children(f, part)).collect();
    }
    found.retain(|f| f.file.is_file());
    Ok(found)
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

/// Whether `name` matches `pattern`, in which each `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(first) else { return false };
    (0..=name.len()).filter(|i| name.is_char_boundary(*i)).any(|i| fits(&name[i..], rest))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn stars_within_names() {
        for (name, pattern, yes) in [
            ("policy0", "policy*", true),
            ("policy", "policy*", true),
            ("other0", "policy*", false),
            ("fdab0000.npu", "*.npu", true),
            ("fdab0000.npu2", "*.npu", false),
            ("hwmon3_input", "hwmon*_*put", true),
            ("a", "b", false),
        ] {
            assert_eq!(fits(name, pattern), yes, "{name} {pattern}");
        }
    }

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
        assert_eq!(of("/sys/class/nothing*/temp"), []);
        for refused in ["/etc/shadow", "/sys/../etc/shadow", "/sys//x", "sys/x", ""] {
            assert!(expand(root.path(), refused).is_err(), "{refused}");
        }
    }
}
