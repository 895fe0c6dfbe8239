//! The build configuration of the kernel, if it is available.

use std::fs;
use std::io::Read;

/// Options without which nothing can be traced.
pub(crate) const NEEDED: [&str; 4] =
    ["CONFIG_BPF_SYSCALL", "CONFIG_BPF_EVENTS", "CONFIG_UPROBE_EVENTS", "CONFIG_PERF_EVENTS"];
/// Options that make tracing faster, or that counters need.
pub(crate) const USEFUL: [&str; 3] = ["CONFIG_BPF_JIT", "CONFIG_HW_PERF_EVENTS", "CONFIG_ARM_PMU"];
/// Maximum number of bytes to read. A configuration has a few hundred kB.
const MOST_BYTES: u64 = 4 << 20;

/// The path and the text of the configuration. `None` if the system has neither file, which is
/// common.
pub(crate) fn config() -> Option<(String, String)> {
    let running = "/proc/config.gz";
    if let Ok(file) = fs::File::open(running) {
        let mut text = String::new();
        if flate2::read::GzDecoder::new(file).take(MOST_BYTES).read_to_string(&mut text).is_ok() {
            return Some((running.to_owned(), text));
        }
    }
    let release = nix::sys::utsname::uname().ok()?.release().to_string_lossy().into_owned();
    let path = format!("/boot/config-{release}");
    Some((path.clone(), fs::read_to_string(path).ok()?))
}

/// The options that are not built in.
pub(crate) fn missing<'o>(config: &str, options: &[&'o str]) -> Vec<&'o str> {
    let has = |option: &str| config.lines().any(|l| l.strip_prefix(option) == Some("=y"));
    options.iter().copied().filter(|o| !has(o)).collect()
}

#[cfg(test)]
mod tests {
    use super::{NEEDED, missing};

    #[test]
    fn built_in_is_what_counts() {
        let config = "CONFIG_BPF_SYSCALL=y\n# CONFIG_BPF_EVENTS is not set\nCONFIG_UPROBE_EVENTS=m\nCONFIG_PERF_EVENTS=y\n";
        assert_eq!(missing(config, &NEEDED), ["CONFIG_BPF_EVENTS", "CONFIG_UPROBE_EVENTS"]);
    }
}
