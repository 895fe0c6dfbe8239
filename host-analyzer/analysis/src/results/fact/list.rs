//! Lists of CPUs in the kernel's format.

/// Most CPUs of a list. Linux can be built for 8192; a longer list is invalid.
const MAX_CPUS: usize = 8192;

/// The CPUs of `0-3,6`, in order; `None` for anything else.
pub(crate) fn cpus(list: &str) -> Option<Vec<u16>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse::<u16>().ok()?..=last.parse().ok()?;
        if cpus.len() + range.len() > MAX_CPUS {
            return None;
        }
        cpus.extend(range);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::cpus;

    #[test]
    fn lists() {
        assert_eq!(cpus("0-3,6\n"), Some(vec![0, 1, 2, 3, 6]));
        assert_eq!(cpus(" 7"), Some(vec![7]));
        assert_eq!(cpus("3,1-3"), Some(vec![1, 2, 3]));
        assert_eq!(cpus(""), Some(vec![]));
        for bad in ["x", "1-", "-1", "1-2-3", "65536", "0-65535", "+1-x"] {
            assert_eq!(cpus(bad), None, "{bad}");
        }
    }
}
