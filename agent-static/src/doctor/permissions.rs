//! The user of the agent, and what restricts it.

use super::Row;
use crate::proc_file::optional;

/// The text of a kernel file. `None` if the kernel lacks the file; the error text if it cannot be
/// read.
fn word(path: &str) -> Option<String> {
    let text = match optional(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes?).into_owned(),
        Err(e) => format!("unreadable ({e})"),
    };
    Some(text.trim_end_matches(['\0', '\n']).to_owned())
}

pub(super) fn rows() -> Vec<Row> {
    let root = nix::unistd::geteuid().is_root();
    let mut rows = vec![if root {
        Row::yes("user", "root")
    } else {
        let user =
            format!("user {}: run the agent as root (adb root, hdc smode, sudo)", nix::unistd::geteuid());
        Row::no("user", user)
    }];
    if let Some(status) = word("/proc/self/status")
        && let Some(effective) = status.lines().find_map(|l| l.strip_prefix("CapEff:"))
    {
        rows.push(Row::info("capabilities", effective.trim()));
    }
    rows.push(match word("/sys/fs/selinux/enforce").as_deref() {
        Some("1") => {
            let context = word("/proc/self/attr/current").unwrap_or_else(|| "no context".to_owned());
            Row::info(
                "SELinux",
                format!("enforcing, in context {context}: `dmesg | grep avc` shows what it denied"),
            )
        }
        Some("0") => Row::info("SELinux", "permissive"),
        Some(other) => Row::info("SELinux", other),
        None => Row::info("SELinux", "not present"),
    });
    if let Some(lockdown) = word("/sys/kernel/security/lockdown") {
        let active = lockdown.split(['[', ']']).nth(1).unwrap_or("none").to_owned();
        rows.push(match active.as_str() {
            "confidentiality" => {
                Row::no("lockdown", "confidentiality: the kernel forbids tracing; boot without lockdown")
            }
            other => Row::info("lockdown", other),
        });
    }
    if let Some(paranoid) = word("/proc/sys/kernel/perf_event_paranoid") {
        rows.push(Row::info("perf_event_paranoid", paranoid));
    }
    rows
}
