//! Replaces the direct probes in an agent that was built without the feature `direct`: every
//! request is refused.
//!
//! [`Installed`] and [`Reader`] have no values. So the compiler knows that code that uses them
//! never runs, and removes it.

mod refused;
mod totals;

use profinfer_engine::DirectPlaces;

use crate::target::files::MappedFile;
use crate::target::watch::Watch;
pub use refused::Refused;
pub use totals::Totals;

#[derive(Debug)]
pub enum Installed {}

#[derive(Debug)]
pub enum Reader {}

/// Result of putting places back.
#[derive(Debug, Clone, Copy)]
pub struct PutBack {
    /// Places with the file's bytes again.
    pub done: u16,
    /// Places that another program has changed.
    pub left: u16,
}

#[derive(Debug)]
pub struct PutIn {
    pub installed: Installed,
    pub reader: Reader,
    /// Places of a killed agent that were put back first.
    pub repaired: PutBack,
    /// How long the engine was stopped, ns.
    pub stopped_ns: u64,
}

/// Refuses.
///
/// # Errors
/// Always.
pub const fn put_in(
    _pid: u32,
    _file: &MappedFile,
    _found: &DirectPlaces,
    _called: Option<i32>,
    _watch: &mut Watch,
) -> Result<PutIn, Refused> {
    Err(Refused::NotBuilt)
}

impl Installed {
    #[must_use]
    pub const fn places(&self) -> usize {
        match *self {}
    }

    pub const fn pause(&self) {
        match *self {}
    }

    pub const fn resume(&self) {
        match *self {}
    }

    /// Removes the probes.
    ///
    /// # Errors
    /// Never.
    pub const fn take_out(self, _watch: &mut Watch) -> Result<PutBack, Refused> {
        match self {}
    }
}

pub mod calibrate {
    use profinfer_wire::record::cost::ProbeCost;

    #[must_use]
    pub const fn probe_cost() -> Option<ProbeCost> {
        None
    }
}
