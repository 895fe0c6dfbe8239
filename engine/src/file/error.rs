//! Why a file cannot be examined.

/// Why a file cannot be examined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// The magic bytes are missing.
    #[error("{path}: not an ELF file (it does not start with the bytes 7f 45 4c 46)")]
    NotElf {
        /// The file.
        path: String,
    },
    /// The class is not ELFCLASS64.
    #[error("{path}: a 32-bit ELF file; only 64-bit engines (x86-64, arm64) can be traced")]
    Not64Bit {
        /// The file.
        path: String,
    },
    /// Big-endian, or neither x86-64 nor arm64.
    #[error("{path}: an ELF file for {machine}; only x86-64 and little-endian arm64 engines can be traced")]
    WrongMachine {
        /// The file.
        path: String,
        /// Its machine.
        machine: String,
    },
    /// For the other machine, in a static agent, which has the decoder for its own machine only
    /// (features `arm64` and `x86`).
    #[error(
        "{path}: an ELF file for {machine}; this agent is made for another machine: examine it with an agent for {machine}"
    )]
    LeftOut {
        /// The file.
        path: String,
        /// Its machine.
        machine: &'static str,
    },
    /// The file ends before the end that its headers state.
    #[error("{path}: the ELF file is cut short: {what} ends at byte {end}, the file has {size}")]
    Cut {
        /// The file.
        path: String,
        /// The incomplete part.
        what: &'static str,
        /// Stated end of that part, in bytes from the start of the file.
        end: u64,
        /// Length of the file in bytes.
        size: u64,
    },
    /// Invalid headers.
    #[error("{path}: broken ELF file: {what}")]
    Broken {
        /// The file.
        path: String,
        /// The problem.
        what: String,
    },
}
