//! The clock of the processor, as the stubs read it.

/// Ticks; 0 if the stubs have no clock.
#[must_use]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut aux = 0;
        // SAFETY: Every processor with direct probes has the instruction; `steady` checks that
        // first. It reads a counter and writes one word, which outlives it.
        unsafe { std::arch::x86_64::__rdtscp(&raw mut aux) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: Every program can read the counter if Linux names it as a clock source; `steady`
        // checks that first. `isb` only waits.
        unsafe {
            std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, nomem, preserves_flags))
        };
        ticks
    }
}
