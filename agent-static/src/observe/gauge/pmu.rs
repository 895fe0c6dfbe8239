//! System-wide PMUs: memory controllers.
//!
//! The kernel's sysfs names the CPU on which such an event is opened (`cpumask`), its number
//! (`events/NAME`, with `format/*`), and the amount of one count (`events/NAME.scale`,
//! `events/NAME.unit`).

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::observe::counter::pmu::cpu_list;
use crate::sys::perf;

/// Sizes of the units that drivers use, in bytes.
const UNITS: [(&str, f64); 5] =
    [("Bytes", 1.0), ("bytes", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];

#[derive(Debug)]
pub struct Traffic {
    /// Counts from 0 since it was opened.
    pub event: OwnedFd,
    /// Bytes per count.
    pub bytes: i64,
}

/// Opens an event that counts bytes. `sysfs` is `/sys`.
///
/// # Errors
/// Why it does not count.
pub fn open(sysfs: &Path, pmu: &str, event: &str) -> Result<Traffic, String> {
    if [pmu, event].iter().any(|name| name.is_empty() || name.contains('/') || name.starts_with('.')) {
        return Err("this is not a name of a PMU and its event".to_owned());
    }
    let dir = sysfs.join("bus/event_source/devices").join(pmu);
    if !dir.exists() {
        return Err("the kernel has no such PMU".to_owned());
    }
    let text = |file: &str| fs::read_to_string(dir.join(file)).map(|t| t.trim().to_owned());
    let missing = |file: &str| format!("the PMU has no file `{file}`");
    let number = text("type").ok().and_then(|t| t.parse().ok()).ok_or_else(|| missing("type"))?;
    let cpumask = text("cpumask").map_err(|_| missing("cpumask"))?;
    let cpu = *cpu_list(&cpumask).first().ok_or("the PMU's cpumask names no CPU")?;
    let terms = text(&format!("events/{event}"))
        .map_err(|_| "the PMU does not list this event in sysfs".to_owned())?;
    let config = config(&terms, &|name| text(&format!("format/{name}")).ok())
        .ok_or_else(|| format!("the event is `{terms}`, which this agent cannot encode"))?;
    let scale = text(&format!("events/{event}.scale")).unwrap_or_else(|_| "1".to_owned());
    // An event that counts things has no unit; the next line reports that.
    let unit = text(&format!("events/{event}.unit")).unwrap_or_default();
    let bytes = bytes_of(&scale, &unit)
        .ok_or_else(|| format!("one count is {scale} `{unit}`, which is not a whole number of bytes"))?;
    let event = perf::Event { pmu_type: number, config, user_only: false };
    let event = perf::open_timed(event, cpu).map_err(|e| format!("opening it on CPU {cpu}: {e}"))?;
    Ok(Traffic { event, bytes })
}

/// Encodes `event=0x01,umask=0x3`; `format/NAME` gives the bits of each term: `config:0-7`.
fn config(terms: &str, format: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let mut config = 0;
    for term in terms.split(',') {
        let (name, value) = term.split_once('=').unwrap_or((term, "1"));
        let value = match value.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None => value.parse().ok()?,
        };
        let bits = cpu_list(format(name)?.strip_prefix("config:")?);
        if bits.iter().any(|bit| *bit > 63) || (bits.len() < 64 && value >> bits.len() != 0) {
            return None;
        }
        for (i, bit) in bits.iter().enumerate() {
            config |= (value >> i & 1) << bit;
        }
    }
    Some(config)
}

/// Bytes per count, if integral. Some drivers call 2^20 bytes `MB` too, so the meaning is chosen
/// for which the scale gives an integral number of bytes.
fn bytes_of(scale: &str, unit: &str) -> Option<i64> {
    let scale: f64 = scale.parse().ok()?;
    let units: &[f64] = match unit {
        "MB" => &[1_048_576.0, 1_000_000.0],
        _ => &[UNITS.iter().find(|(name, _)| *name == unit)?.1],
    };
    units.iter().find_map(|unit| {
        let bytes = scale * unit;
        let whole = bytes.round();
        // sysfs provides at least seven digits.
        ((bytes - whole).abs() < 1e-6 * whole && (1.0..=1e9).contains(&whole)).then_some(whole as i64)
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn whole_bytes_or_none() {
        for (scale, unit, bytes) in [
            // rockchip_ddr, Intel's and AMD's memory controllers, and inventions.
            ("9.536743164062500e-07", "MB", Some(1)),
            ("6.103515625e-5", "MiB", Some(64)),
            ("1e-6", "MB", Some(1)),
            ("64", "Bytes", Some(64)),
            ("1", "", None),
            ("0.3", "Bytes", None),
            ("0", "Bytes", None),
            ("-64", "Bytes", None),
            ("nan", "Bytes", None),
            ("1", "Joules", None),
        ] {
            assert_eq!(bytes_of(scale, unit), bytes, "{scale} {unit}");
        }
    }

    #[test]
    fn numbers_of_events() {
        let format = |name: &str| {
            let bits = match name {
                "event" => "config:0-7,32-35",
                "umask" => "config:8-15",
                "all" => "config:0-63",
                "other" => "config1:0-3",
                _ => return None,
            };
            Some(bits.to_owned())
        };
        let of = |terms| config(terms, &format);
        assert_eq!(of("event=0x05"), Some(5));
        assert_eq!(of("event=0x105,umask=3"), Some(0x1_0000_0305));
        assert_eq!(of("umask"), Some(0x100));
        assert_eq!(of("all=0xffffffffffffffff"), Some(u64::MAX));
        for terms in ["", "other=1", "unknown=1", "event=0x1000", "event=x"] {
            assert_eq!(of(terms), None, "{terms}");
        }
    }

    /// The kernel's CPU clock under the name of a memory controller: a real event, read with its
    /// scale.
    #[test]
    fn counts_what_the_kernel_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join("bus/event_source/devices").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("ddr/type", "1\n");
        write("ddr/cpumask", "0\n");
        write("ddr/events/clock", "event=0x00\n");
        write("ddr/events/clock.scale", "6.103515625e-05\n");
        write("ddr/events/clock.unit", "MiB\n");
        write("ddr/events/cycles", "event=0x00\n");
        write("ddr/format/event", "config:0-7\n");
        write("bare/type", "1\n");
        let why = |pmu, event| open(root.path(), pmu, event).unwrap_err();
        assert!(why("none", "clock").contains("no such PMU"));
        assert!(why("../ddr", "clock").contains("not a name"));
        assert!(why("bare", "clock").contains("cpumask"));
        assert!(why("ddr", "reads").contains("does not list"));
        assert!(why("ddr", "cycles").contains("not a whole number of bytes"));
        let traffic = match open(root.path(), "ddr", "clock") {
            Ok(traffic) => traffic,
            Err(why) if nix::unistd::geteuid().is_root() => panic!("{why}"),
            Err(why) => return profinfer_skip::skip(why),
        };
        assert_eq!(traffic.bytes, 64);
        let before = perf::read_timed(&traffic.event).unwrap().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let after = perf::read_timed(&traffic.event).unwrap().unwrap();
        let grown = after - before;
        assert!((50_000_000..2_000_000_000).contains(&grown), "{grown} ns in 50 ms");
    }
}
