//! The placement of a model's weights, from the engine's log.

/// MiB of weights, by buffer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Weights {
    /// Read directly from the mapped file.
    pub(crate) mapped: f64,
    /// In a buffer of the CPU backend, in an order for this CPU's instructions. The pages of the
    /// file are not read after that.
    pub(crate) repacked: f64,
}

impl Weights {
    /// Reads lines such as `load_tensors:   CPU_REPACK model buffer size =     0.88 MiB`. The
    /// buffers depend on the CPU: `CPU_REPACK` is any repacking buffer of the backend, and `AMX` is
    /// Intel's.
    pub(crate) fn of_log(log: &[u8]) -> Self {
        let mut all = Self::default();
        for line in String::from_utf8_lossy(log).lines() {
            let Some((buffer, size)) = line.split_once(" model buffer size = ") else { continue };
            let buffer = buffer.rsplit(' ').next().unwrap();
            let mib: f64 = size.trim().trim_end_matches(" MiB").parse().unwrap();
            match buffer {
                "CPU_Mapped" => all.mapped += mib,
                "CPU_REPACK" | "AMX" => all.repacked += mib,
                // A buffer of another backend.
                _ => {}
            }
        }
        assert_ne!(all, Self::default(), "the engine does not say where the weights are");
        all
    }
}
