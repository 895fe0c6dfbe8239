//! The kernel's preemption model, which decides how a program on a uprobe can be interrupted.

use std::path::Path;

use super::read;
use crate::kernel_options;

/// `none`, `voluntary`, `lazy`, `full` or `rt`.
///
/// # Errors If the kernel exposes none of the sources.
pub(crate) fn preemption(root: &Path) -> Result<String, String> {
    let version =
        nix::sys::utsname::uname().map_err(|e| e.to_string())?.version().to_string_lossy().into_owned();
    let chosen = read::text(root, "/sys/kernel/debug/sched/preempt").ok();
    let line = read::text(root, "/proc/cmdline").unwrap_or_default();
    let config = || kernel_options::config().map(|(_, text)| text);
    model(&version, chosen.as_deref(), &line, config)
        .ok_or_else(|| "the kernel shows neither debugfs nor its configuration".to_owned())
}

/// Checks the version string, debugfs, the command line and the configuration, in this order.
fn model(
    version: &str,
    chosen: Option<&str>,
    line: &str,
    config: impl FnOnce() -> Option<String>,
) -> Option<String> {
    if version.contains("PREEMPT_RT") {
        return Some("rt".to_owned());
    }
    if let Some(word) = chosen.and_then(|text| text.split(['(', ')']).nth(1)) {
        return Some(word.to_owned());
    }
    let requested = line.split_whitespace().find_map(|option| option.strip_prefix("preempt="));
    if let Some(requested) = requested.filter(|_| version.contains("PREEMPT_DYNAMIC")) {
        return Some(requested.to_owned());
    }
    // Kernels with a fixed model have a word for it in their version.
    let word = |wanted: &str| version.split_whitespace().any(|word| word == wanted);
    if let Some((_, name)) = [("PREEMPT", "full"), ("PREEMPT_LAZY", "lazy")].iter().find(|(w, _)| word(w)) {
        return Some((*name).to_owned());
    }
    const MODELS: [(&str, &str); 4] = [
        ("CONFIG_PREEMPT_NONE", "none"),
        ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
        ("CONFIG_PREEMPT_LAZY", "lazy"),
        ("CONFIG_PREEMPT", "full"),
    ];
    let config = config()?;
    let (_, name) =
        MODELS.into_iter().find(|(option, _)| kernel_options::missing(&config, &[option]).is_empty())?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::model;

    fn of(version: &str, chosen: Option<&str>, line: &str, config: &str) -> Option<String> {
        model(version, chosen, line, || Some(config.to_owned()))
    }

    #[test]
    fn the_effective_model_precedes_the_requested_and_the_built_one() {
        let is = |name: &str| Some(name.to_owned());
        let built = "CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_LAZY=y\n# CONFIG_PREEMPT is not set\n";
        let dynamic = "#1 SMP PREEMPT_DYNAMIC";
        assert_eq!(of(dynamic, Some("none voluntary (full) lazy\n"), "preempt=none", built), is("full"));
        assert_eq!(of(dynamic, None, "quiet preempt=none", built), is("none"));
        assert_eq!(of(dynamic, None, "quiet", built), is("lazy"));
        // A kernel without PREEMPT_DYNAMIC ignores `preempt=` and has its model in the version.
        assert_eq!(of("#1 SMP PREEMPT Debian 7.2", None, "preempt=none", ""), is("full"));
        assert_eq!(of("#1 SMP PREEMPT_LAZY", None, "", ""), is("lazy"));
        assert_eq!(of("#1 SMP PREEMPT_RT", Some("(full)"), "", built), is("rt"));
        assert_eq!(of("#1 SMP", None, "", "CONFIG_SMP=y\n"), None);
    }
}
