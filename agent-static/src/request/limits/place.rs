//! The folders of /sys and /proc from which a sensor may be read.
//!
//! [`crate::observe::gauge::parse`] reads only numbers of known formats. But reading a kernel file
//! can have side effects, and numbers of other processes must not leave the board.

/// Folders, one pattern per path component; anything below them is allowed. `*` matches any part of
/// one name.
const PLACES: [&[&str]; 24] = [
    &["sys", "class", "thermal"],
    &["sys", "class", "hwmon"],
    &["sys", "class", "devfreq"],
    &["sys", "class", "power_supply"],
    &["sys", "class", "powercap"],
    &["sys", "class", "regulator"],
    &["sys", "class", "drm"],
    &["sys", "class", "kgsl"],
    &["sys", "class", "accel"],
    &["sys", "class", "misc", "mali*"],
    &["sys", "devices", "system", "cpu"],
    &["sys", "devices", "platform"],
    &["sys", "devices", "soc*"],
    &["sys", "devices", "virtual", "thermal"],
    &["sys", "bus", "iio", "devices"],
    &["sys", "kernel", "gpu"],
    &["sys", "kernel", "ged"],
    &["sys", "kernel", "debug", "*npu*"],
    &["sys", "kernel", "debug", "*gpu*"],
    &["sys", "kernel", "debug", "mali*"],
    &["sys", "kernel", "debug", "clk"],
    &["proc", "mali*"],
    &["proc", "mtk_mali*"],
    &["proc", "gpufreq*"],
];
/// Maximum path length in bytes, and maximum number of `*`, because each one lists a folder.
const MAX_PATH: usize = 256;
const MAX_STARS: usize = 4;

/// Checks that a path is one of a sensor. Its names may contain `*`.
///
/// # Errors
/// The reason why it is not.
pub fn check(path: &str) -> Result<(), &'static str> {
    if path.len() > MAX_PATH {
        return Err("the path is longer than 256 bytes");
    }
    if path.matches('*').count() > MAX_STARS {
        return Err("the path has more than 4 `*`");
    }
    let Some(path) = path.strip_prefix('/') else { return Err(OUTSIDE) };
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|p| p.is_empty() || *p == "." || *p == ".." || p.contains('\0')) {
        return Err(OUTSIDE);
    }
    // A `*` in the request is an ordinary character here: it matches only where the pattern has a
    // `*` too.
    let below = |place: &&[&str]| {
        parts.len() > place.len() && place.iter().zip(&parts).all(|(pattern, part)| fits(part, pattern))
    };
    if PLACES.iter().any(below) { Ok(()) } else { Err(OUTSIDE) }
}

const OUTSIDE: &str = "the path is outside the sensor folders of /sys and /proc (docs/security.md)";

/// True if `name` matches `pattern`, in which each `*` matches any text.
#[must_use]
pub fn fits(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(first) else { return false };
    (0..=name.len()).filter(|i| name.is_char_boundary(*i)).any(|i| fits(&name[i..], rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_are_read_and_nothing_else() {
        for sensor in [
            "/sys/class/thermal/thermal_zone*/temp",
            "/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq",
            "/sys/class/devfreq/*.gpu/load",
            "/sys/kernel/debug/rknpu/load",
            "/sys/class/misc/mali0/device/utilisation",
            "/proc/mtk_mali/gpu_utilization",
        ] {
            assert_eq!(check(sensor), Ok(()), "{sensor}");
        }
        for other in [
            "",
            "sys/class/thermal/x",
            "/etc/shadow",
            "/proc/1/stat",
            "/proc/*/oom_score",
            "/proc/self/root/sys/class/thermal/x",
            "/sys/class/thermal",
            "/sys/class/thermal/../../../etc/shadow",
            "/sys/class/thermal//x",
            "/sys/class/*/x",
            "/sys/*/thermal/x",
            "/sys/kernel/debug/tracing/trace_pipe",
            "/sys/kernel/debug/*/load",
            "/sys/class/net/eth0/statistics/rx_bytes",
        ] {
            assert_eq!(check(other), Err(OUTSIDE), "{other}");
        }
        assert!(check(&format!("/sys/class/thermal/{}", "x".repeat(256))).is_err());
        assert!(check("/sys/class/thermal/*/*/*/*").is_ok());
        assert!(check("/sys/class/thermal/*/*/*/**").is_err());
    }

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
}
