//! Where the kernel keeps the ids of a task in each PID namespace.
//!
//! In a PID namespace, an agent sees other ids than the kernel's. The helper that translates them
//! works for the tasks of that namespace itself, not for those of namespaces below it (a container
//! in a container). For these, the programs read the id from the kernel's `struct pid`. Its layout
//! comes from the kernel's BTF; without BTF, such engines are refused.

use std::ffi::OsStr;

use libbpf_rs::ProgramType;
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, HasSize};
use libbpf_rs::libbpf_sys::BPF_FUNC_probe_read_kernel;

use super::layout::types::pid_layout;
use crate::error::log;

/// `None` if the kernel does not describe its structs, or does not let programs read them.
pub(super) fn find() -> Option<pid_layout> {
    // A kernel in lockdown refuses each program that calls it.
    let readable = ProgramType::Kprobe.is_helper_supported(BPF_FUNC_probe_read_kernel);
    let btf = Btf::from_vmlinux().ok().filter(|_| readable.unwrap_or(false))?;
    let found = read(&btf);
    if found.is_none() {
        log(
            "the kernel's BTF has no ids of tasks by PID namespace: engines in namespaces below that of the agent are not traced",
        );
    }
    found
}

fn read(btf: &Btf<'_>) -> Option<pid_layout> {
    let [task, pid, upid, namespace, common] = ["task_struct", "pid", "upid", "pid_namespace", "ns_common"]
        .map(|name| btf.type_by_name::<Struct<'_>>(name));
    let upid = upid?;
    Some(pid_layout {
        thread_pid: offset(task.as_ref()?, "thread_pid")?,
        group_leader: offset(task.as_ref()?, "group_leader")?,
        level: offset(pid.as_ref()?, "level")?,
        numbers: offset(pid.as_ref()?, "numbers")?,
        upid_size: upid.size().try_into().ok()?,
        nr: offset(&upid, "nr")?,
        ns: offset(&upid, "ns")?,
        inum: offset(namespace.as_ref()?, "ns")? + offset(common.as_ref()?, "inum")?,
    })
}

/// Offset of a direct member, bytes.
fn offset(of: &Struct<'_>, name: &str) -> Option<u32> {
    let member = of.iter().find(|m| m.name == Some(OsStr::new(name)))?;
    match member.attr {
        MemberAttr::Normal { offset } => Some(offset / 8),
        MemberAttr::BitField { .. } => None,
    }
}
