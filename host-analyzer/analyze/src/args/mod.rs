//! Value types of options.

pub(crate) mod cpu_set;
pub(crate) mod format;
pub(crate) mod numbered;
pub(crate) mod share;
