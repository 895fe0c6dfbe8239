//! perf_event_open(2): a counter on one CPU.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_event_open_sys as perf;

#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// PMU type, from sysfs; `PERF_TYPE_SOFTWARE` for software events.
    pub pmu_type: u32,
    pub config: u64,
    /// Count in user mode only.
    pub user_only: bool,
}

/// PMU type of tracepoints.
pub const TRACEPOINT: u32 = perf::bindings::PERF_TYPE_TRACEPOINT;
/// PMU type of software events.
pub const SOFTWARE: u32 = perf::bindings::PERF_TYPE_SOFTWARE;
/// Page faults without disk access.
pub const MINOR_FAULTS: u64 = perf::bindings::PERF_COUNT_SW_PAGE_FAULTS_MIN as u64;
/// Page faults with disk access.
pub const MAJOR_FAULTS: u64 = perf::bindings::PERF_COUNT_SW_PAGE_FAULTS_MAJ as u64;

/// Starts to count on `cpu`, in the group of `leader`.
///
/// # Errors
/// The error of perf_event_open(2).
pub fn open(event: Event, cpu: u32, leader: Option<BorrowedFd<'_>>) -> io::Result<OwnedFd> {
    open_as(event, cpu, leader, false)
}

/// Starts to count on `cpu`, pinned to a hardware counter. [`counts`] reports whether it got one.
///
/// # Errors
/// The error of perf_event_open(2).
pub fn open_pinned(event: Event, cpu: u32) -> io::Result<OwnedFd> {
    open_as(event, cpu, None, true)
}

/// Whether a pinned event has a counter. Without one, read(2) returns 0 bytes.
#[must_use]
pub fn counts(event: &OwnedFd) -> bool {
    let mut value = [0; 8];
    nix::unistd::read(event, &mut value) == Ok(8)
}

/// Starts to count on `cpu`, for [`read_timed`].
///
/// # Errors
/// The error of perf_event_open(2).
pub fn open_timed(event: Event, cpu: u32) -> io::Result<OwnedFd> {
    let times =
        perf::bindings::PERF_FORMAT_TOTAL_TIME_ENABLED | perf::bindings::PERF_FORMAT_TOTAL_TIME_RUNNING;
    open_with(event, cpu, None, false, times.into())
}

/// The count of an event of [`open_timed`]. `None` if it did not count all the time.
///
/// # Errors
/// The error of read(2).
pub fn read_timed(event: &OwnedFd) -> io::Result<Option<u64>> {
    let mut bytes = [0; 24];
    if nix::unistd::read(event, &mut bytes)? != bytes.len() {
        return Ok(None);
    }
    let [value, enabled, running] = [0, 8, 16].map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_ne_bytes(word)
    });
    Ok((enabled == running).then_some(value))
}

fn open_as(event: Event, cpu: u32, leader: Option<BorrowedFd<'_>>, pinned: bool) -> io::Result<OwnedFd> {
    open_with(event, cpu, leader, pinned, 0)
}

fn open_with(
    event: Event,
    cpu: u32,
    leader: Option<BorrowedFd<'_>>,
    pinned: bool,
    read_format: u64,
) -> io::Result<OwnedFd> {
    let mut attr = perf::bindings::perf_event_attr {
        size: u32::try_from(size_of::<perf::bindings::perf_event_attr>()).unwrap_or(0),
        type_: event.pmu_type,
        config: event.config,
        read_format,
        ..Default::default()
    };
    attr.set_pinned(pinned.into());
    attr.set_exclude_kernel(event.user_only.into());
    attr.set_exclude_hv(event.user_only.into());
    let cpu = i32::try_from(cpu).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let leader = leader.map_or(-1, |fd| fd.as_raw_fd());
    // SAFETY: `attr` is a complete perf_event_attr with its size set, and outlives the call.
    let fd = unsafe {
        perf::perf_event_open(&raw mut attr, -1, cpu, leader, perf::bindings::PERF_FLAG_FD_CLOEXEC.into())
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: The call above returned this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
