//! Facts read from trees of files, like those of kernels with control groups of version 1, version
//! 2, both or neither. The agent's code reads the trees; the host's code reads the stream.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod cgroups;
#[path = "../common/files.rs"]
mod files;
mod processes;
#[path = "../common/stream.rs"]
mod stream;
mod systems;
mod tree;
