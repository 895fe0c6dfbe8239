//! Machine code in one form for both instruction sets.

#[cfg(feature = "arm64")]
mod arm64;
pub(crate) mod dataflow;
pub(crate) mod decode;
mod emulated;
pub(crate) mod entry;
pub(crate) mod function;
pub(crate) mod instruction;
pub(crate) mod jump_table;
pub(crate) mod movable;
pub(crate) mod returned;
pub(crate) mod scan;
#[cfg(feature = "x86")]
mod x86;
