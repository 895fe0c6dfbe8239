//! The processor's clock, as the stubs read it.

/// Ticks; 0 where the stubs have no clock.
#[must_use]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut aux = 0;
        // SAFETY: Every processor that direct probes are put in on has the instruction, which `steady` asks for first; it reads a
        // counter and writes one word, which outlives it.
        unsafe { std::arch::x86_64::__rdtscp(&raw mut aux) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: The counter can be read by every program where Linux names it as a clock source, which `steady` asks for first; `isb`
        // only waits.
        unsafe {
            std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, nomem, preserves_flags))
        };
        ticks
    }
}
