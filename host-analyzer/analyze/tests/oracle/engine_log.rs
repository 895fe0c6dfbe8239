//! Where the engine has a model's weights, by its own log.

/// MiB of weights, by the buffer that they are in.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Weights {
    /// Read where they lie in the file, which is mapped.
    pub(crate) mapped: f64,
    /// In a buffer of the CPU backend, in an order that suits this CPU's instructions. The file's pages are not read after that.
    pub(crate) repacked: f64,
}

impl Weights {
    /// Reads lines such as `load_tensors:   CPU_REPACK model buffer size =     0.88 MiB`. Which buffers there are depends on
    /// the CPU: `CPU_REPACK` is any that the backend has, and `AMX` is Intel's of that name.
    pub(crate) fn of_log(log: &[u8]) -> Self {
        let mut all = Self::default();
        for line in String::from_utf8_lossy(log).lines() {
            let Some((buffer, size)) = line.split_once(" model buffer size = ") else { continue };
            let buffer = buffer.rsplit(' ').next().unwrap();
            let mib: f64 = size.trim().trim_end_matches(" MiB").parse().unwrap();
            match buffer {
                "CPU_Mapped" => all.mapped += mib,
                "CPU_REPACK" | "AMX" => all.repacked += mib,
                // Another backend's.
                _ => {}
            }
        }
        assert_ne!(all, Self::default(), "the engine does not say where the weights are");
        all
    }
}
