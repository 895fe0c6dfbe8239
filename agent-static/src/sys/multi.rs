//! Whether the kernel can attach a program to many places of one process by one link
//! (uprobe_multi).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libbpf_sys as bpf;
use nix::errno::Errno;

/// Tries a program that does nothing, with places that cannot exist. The errors show what the
/// kernel supports. The first kernels with uprobe_multi (Linux 6.6) matched a single thread instead
/// of a process. Repaired kernels reject a process that cannot exist before they look at the file.
///
/// For tests: with `PROFINFER_NO_UPROBE_MULTI` in the environment, every kernel counts as one
/// without it, so that the agent uses perf events.
#[must_use]
pub fn uprobe_multi() -> bool {
    if std::env::var_os("PROFINFER_NO_UPROBE_MULTI").is_some() {
        return false;
    }
    let Some(program) = program() else { return false };
    refusal(&program, 0) == Some(Errno::EBADF) && refusal(&program, u32::MAX) == Some(Errno::EINVAL)
}

/// A program that such a link accepts.
fn program() -> Option<OwnedFd> {
    // `r0 = 0; exit`, as the kernel numbers its instructions (include/uapi/linux/bpf.h).
    let nothing = [0xb7, 0x95].map(|code| bpf::bpf_insn { code, ..Default::default() });
    let opts = bpf::bpf_prog_load_opts {
        sz: size_of::<bpf::bpf_prog_load_opts>() as _,
        expected_attach_type: bpf::BPF_TRACE_UPROBE_MULTI,
        ..Default::default()
    };
    // SAFETY: The instructions, the name, the license and the options outlive the call, which only
    // reads them; the count is that of the instructions.
    let fd = unsafe {
        bpf::bpf_prog_load(
            bpf::BPF_PROG_TYPE_KPROBE,
            c"multi".as_ptr(),
            c"GPL".as_ptr(),
            nothing.as_ptr(),
            nothing.len() as _,
            (&raw const opts).cast_mut(),
        )
    };
    // SAFETY: The call above returned this descriptor to us alone.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The error of the kernel for a link to a place in `/`, which is no file, in process `pid`. `None`
/// if it accepts the link.
fn refusal(program: &OwnedFd, pid: u32) -> Option<Errno> {
    let place = 0;
    let mut opts =
        bpf::bpf_link_create_opts { sz: size_of::<bpf::bpf_link_create_opts>() as _, ..Default::default() };
    opts.__bindgen_anon_1.uprobe_multi = bpf::bpf_link_create_opts__bindgen_ty_1__bindgen_ty_3 {
        path: c"/".as_ptr(),
        offsets: &raw const place,
        cnt: 1,
        pid,
        ..Default::default()
    };
    // SAFETY: Path, place and options outlive the call, which only reads them; there is one place.
    let fd = unsafe {
        bpf::bpf_link_create(program.as_raw_fd(), -1, bpf::BPF_TRACE_UPROBE_MULTI, &raw const opts)
    };
    if fd < 0 {
        return Some(Errno::from_raw(-fd));
    }
    // SAFETY: The call above returned this descriptor to us alone.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    None
}
