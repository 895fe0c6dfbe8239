//! How much of the operators is captured now: by the clock ([`duty`]), by the engine's speed ([`controller`]), by its calls ([`steer`]), and how
//! soon direct probes are read (`pace`).

pub mod controller;
pub mod duty;
#[cfg(feature = "direct")]
pub mod pace;
pub mod steer;
