//! One ELF file, as its process maps it.

pub(crate) mod build_id;
pub(crate) mod elf;
pub(crate) mod error;
mod frame;
pub(crate) mod relocs;
pub(crate) mod unwind;
