//! The CPUs to measure on.

use std::path::Path;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::error::{Diagnostic, Result};
use crate::observe::counter::pmu;

/// Most CPUs: the size of the kernel's usual masks.
const MOST: u32 = 1024;

/// Parses `0-3,6`: the CPUs in order, each once.
///
/// # Errors A sentence with the part that is not a CPU or range.
pub fn parse(list: &str) -> std::result::Result<Vec<u32>, String> {
    let mut cpus = Vec::new();
    for part in list.split(',').map(str::trim) {
        let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n < MOST);
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (number(from), number(to)) {
            (Some(from), Some(to)) if from <= to => cpus.extend(from..=to),
            _ => return Err(format!("`{part}` is neither a CPU nor a range of CPUs below {MOST}")),
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Parses `1,2,4`: thread counts in order, each once.
///
/// # Errors A sentence with the part that is not a thread count.
pub fn parse_threads(list: &str) -> std::result::Result<Vec<usize>, String> {
    let number = |part: &str| part.parse::<usize>().ok().filter(|n| (1..=MOST as usize).contains(n));
    let of = |part: &str| number(part).ok_or_else(|| format!("`{part}` is not a thread count"));
    let mut threads: Vec<usize> =
        list.split(',').map(|part| of(part.trim())).collect::<std::result::Result<_, _>>()?;
    threads.sort_unstable();
    threads.dedup();
    Ok(threads)
}

/// The CPUs of a list, or all that this process may run on. `sysfs` is `/sys`.
///
/// # Errors If one of them is offline or outside the affinity mask, or the list is invalid.
pub fn chosen(list: Option<&str>, sysfs: &Path) -> Result<Vec<u32>> {
    let allowed = allowed()?;
    let Some(list) = list.filter(|l| !l.is_empty()) else { return Ok(allowed) };
    let tried = || format!("choosing the CPUs `{list}`");
    let cpus = parse(list).map_err(|e| Diagnostic::new(tried(), e, "write them like 0-3,6"))?;
    if let Ok(online) = pmu::online(sysfs)
        && let Some(cpu) = cpus.iter().find(|c| !online.contains(c))
    {
        let help = format!("choose among those that are online: {}", pmu::list_of(&online));
        return Err(Diagnostic::new(tried(), format!("CPU {cpu} is not online"), help));
    }
    match cpus.iter().find(|c| !allowed.contains(c)) {
        Some(cpu) => {
            let help = format!(
                "choose among {}, or start the agent without a mask or cpuset (taskset, cgroup) that excludes it",
                pmu::list_of(&allowed)
            );
            Err(Diagnostic::new(tried(), format!("this process may not run on CPU {cpu}"), help))
        }
        None => Ok(cpus),
    }
}

/// The CPUs of this thread's affinity mask.
fn allowed() -> Result<Vec<u32>> {
    let mask = sched_getaffinity(Pid::from_raw(0)).map_err(|e| {
        Diagnostic::new("reading the agent's affinity mask", e.desc(), "name the CPUs with --cpus")
    })?;
    let set = |cpu: &u32| mask.is_set(*cpu as usize).unwrap_or(false);
    Ok((0..u32::try_from(CpuSet::count()).unwrap_or(MOST)).filter(set).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        for (text, cpus) in [
            ("0", vec![0]),
            ("0-3,6", vec![0, 1, 2, 3, 6]),
            (" 5, 1-2 ,2", vec![1, 2, 5]),
            ("1023", vec![1023]),
        ] {
            assert_eq!(parse(text).unwrap(), cpus, "{text}");
        }
        for wrong in ["", "x", "3-1", "0,,1", "-1", "1024", "0-4294967295", "1-2-3"] {
            assert!(parse(wrong).unwrap_err().contains('`'), "{wrong}");
        }
        assert_eq!(parse_threads("4,1, 2,1").unwrap(), [1, 2, 4]);
        for wrong in ["", "0", "1,", "1-2", "5000"] {
            assert!(parse_threads(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unavailable_cpus_are_refused_with_the_available_ones() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("devices/system/cpu");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("online"), "0-1000\n").unwrap();
        let own = allowed().unwrap();
        assert_eq!(chosen(None, root.path()).unwrap(), own);
        assert_eq!(chosen(Some(""), root.path()).unwrap(), own);
        assert_eq!(chosen(Some(&own[0].to_string()), root.path()).unwrap(), [own[0]]);
        let outside = chosen(Some("999"), root.path()).unwrap_err();
        assert!(outside.answer.contains("may not run on CPU 999"), "{outside}");
        let offline = chosen(Some("1023"), root.path()).unwrap_err();
        assert!(
            offline.answer.contains("CPU 1023 is not online") && offline.help.contains("0-1000"),
            "{offline}"
        );
        assert!(chosen(Some("a"), root.path()).unwrap_err().answer.contains("`a`"));
    }
}
