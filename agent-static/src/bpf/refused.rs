//! Why the kernel rejected the programs, and the remedy.

use std::cell::RefCell;

use crate::error::Diagnostic;
use crate::kernel_options;

thread_local! {
    static LOG: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Collects libbpf's messages for the diagnostic; otherwise libbpf prints them to the terminal.
pub(super) fn keep_log() {
    libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Warn, |_, text| {
        LOG.with_borrow_mut(|l| l.push_str(&text))
    })));
}

/// Builds the diagnostic from the error and the last lines of libbpf's log.
pub(super) fn refused(e: &libbpf_rs::Error) -> Diagnostic {
    let log = LOG.with_borrow_mut(std::mem::take);
    let said: Vec<&str> = log.lines().filter(|l| !l.trim().is_empty()).rev().take(3).collect();
    let root = nix::unistd::geteuid().is_root();
    let help = match e.kind() {
        _ if !root => "run the agent as root (or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE)".to_owned(),
        libbpf_rs::ErrorKind::PermissionDenied => {
            "the kernel denies BPF even to root: a container needs --privileged, and SELinux or lockdown may \
             block it (see `dmesg`)"
                .to_owned()
        }
        _ => kernel_config_help(),
    };
    let answer = if said.is_empty() { e.to_string() } else { format!("{e}; {}", said.join("; ")) };
    Diagnostic::new("loading the BPF programs", answer, help)
}

/// Lists the missing kernel options, if the kernel exposes its configuration.
fn kernel_config_help() -> String {
    let Some((from, config)) = kernel_options::config() else {
        let needed = kernel_options::NEEDED.join(", ");
        return format!("the kernel needs {needed} and at least version 5.10; see `profinfer-agent doctor`");
    };
    let missing = kernel_options::missing(&config, &kernel_options::NEEDED);
    if missing.is_empty() {
        format!("the kernel has the required options ({from}); it may be older than 5.10")
    } else {
        format!("this kernel was built without {} ({from}), which tracing needs", missing.join(", "))
    }
}
