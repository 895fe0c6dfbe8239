//! Fill level of the ring buffer.

use libbpf_rs::{AsRawLibbpf, RingBuffer};
use libbpf_sys as bpf;

/// Bytes of the first ring that are reserved or written and not read yet.
#[must_use]
pub fn waiting(ring: &RingBuffer<'_>) -> u64 {
    // SAFETY: The manager lives for as long as `ring` is borrowed, and the ring for as long as the
    // manager. Both calls only read.
    unsafe {
        let first = bpf::ring_buffer__ring(ring.as_libbpf_object().as_ptr(), 0);
        if first.is_null() { 0 } else { bpf::ring__avail_data_size(first) as u64 }
    }
}
