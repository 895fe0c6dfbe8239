//! Reading a map of the BPF programs without allocating; libbpf-rs makes a new vector for each CPU.

use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use libbpf_rs::MapCore;

/// Number of CPUs that there may be, as the kernel counts them for per-CPU maps; 0 when it does not tell.
pub fn possible_cpus() -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| libbpf_rs::num_possible_cpus().unwrap_or(0))
}

/// Reads the values of `key` on all CPUs, behind each other, from a per-CPU array. False, and nothing is written, when the
/// kernel refuses or `values` is too short.
pub fn lookup_percpu(map: &impl MapCore, key: u32, values: &mut [u64]) -> bool {
    let needed = (map.value_size() as usize).next_multiple_of(8) * possible_cpus();
    if map.key_size() != 4 || needed == 0 || size_of_val(values) < needed {
        return false;
    }
    let (fd, key) = (map.as_fd().as_raw_fd(), &raw const key);
    // SAFETY: The kernel reads four bytes of `key` and writes `needed` bytes, for which `values` has room; both outlive
    // the call.
    unsafe { libbpf_sys::bpf_map_lookup_elem(fd, key.cast(), values.as_mut_ptr().cast()) == 0 }
}
