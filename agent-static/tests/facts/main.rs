//! Facts on trees of files, as kernels with control groups of version 1, of version 2, of both and of neither have them. The agent's
//! own code reads them; the host's own code reads the stream.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod cgroups;
mod processes;
mod systems;
mod tree;
