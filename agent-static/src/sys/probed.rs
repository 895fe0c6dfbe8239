//! A function of the agent to probe: two adjacent instructions of the kind that operator probes are
//! placed on (a call and a branch).

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".text",
    ".balign 64",
    "profinfer_probed:",
    "2:",
    "profinfer_probed_start: call 3f",
    "profinfer_probed_end: jmp 4f",
    "4: dec rdi",
    "jnz 2b",
    "ret",
    "3: ret",
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".text",
    ".balign 64",
    "profinfer_probed:",
    "mov x9, x30",
    "2:",
    "profinfer_probed_start: bl 3f",
    "profinfer_probed_end: b 4f",
    "4: subs x0, x0, #1",
    "b.ne 2b",
    "ret x9",
    "3: ret",
);

unsafe extern "C" {
    /// Executes both instructions `pairs` times. `node` stays in the register of the second
    /// argument.
    fn profinfer_probed(pairs: u64, node: u64);
    static profinfer_probed_start: u8;
    static profinfer_probed_end: u8;
}

/// Addresses of the two instructions.
#[must_use]
pub fn sites() -> [u64; 2] {
    // Only the addresses of the labels are used.
    [&raw const profinfer_probed_start, &raw const profinfer_probed_end].map(|p| p.addr() as u64)
}

/// Executes both instructions `pairs` times, with `node` as second argument of the call.
pub fn pass(pairs: u32, node: u64) {
    if pairs == 0 {
        return;
    }
    // SAFETY: The function above follows the C calling convention: it changes only the register of
    // the first argument (and x9 and x30 on aarch64, which a callee may change). It touches no
    // memory except the return address that its call pushes. It returns after `pairs` rounds, which
    // is not 0.
    unsafe { profinfer_probed(u64::from(pairs), node) }
}
