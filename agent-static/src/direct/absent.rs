//! Stands for the direct probes in an agent that was built without the feature `direct`: there are none, and who asks is told.
//!
//! [`Installed`] and [`Reader`] have no values, so the compiler knows that what the agent does with them never happens, and leaves it out.

mod refused;
mod totals;

use profinfer_engine::DirectPlaces;

use crate::target::maps::MappedFile;
use crate::target::watch::Watch;
pub use refused::Refused;
pub use totals::Totals;

/// Direct probes in a process.
#[derive(Debug)]
pub enum Installed {}

/// What reads their records.
#[derive(Debug)]
pub enum Reader {}

/// Places that were put back.
#[derive(Debug, Clone, Copy)]
pub struct PutBack {
    /// As in the file again.
    pub done: u16,
    /// Changed by somebody else.
    pub left: u16,
}

/// What putting them in came to.
#[derive(Debug)]
pub struct PutIn {
    /// The probes.
    pub installed: Installed,
    /// What reads their records.
    pub reader: Reader,
    /// Places of a killed agent that were put back first.
    pub repaired: PutBack,
    /// How long the engine stood still, ns.
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
    /// Places that are changed.
    #[must_use]
    pub const fn places(&self) -> usize {
        match *self {}
    }

    /// Records nothing.
    pub const fn pause(&self) {
        match *self {}
    }

    /// Records again.
    pub const fn resume(&self) {
        match *self {}
    }

    /// Takes them out.
    ///
    /// # Errors
    /// Never.
    pub const fn take_out(self, _watch: &mut Watch) -> Result<PutBack, Refused> {
        match self {}
    }
}

/// What they cost.
pub mod calibrate {
    use profinfer_wire::record::cost::ProbeCost;

    /// Unknown.
    #[must_use]
    pub const fn probe_cost() -> Option<ProbeCost> {
        None
    }
}
