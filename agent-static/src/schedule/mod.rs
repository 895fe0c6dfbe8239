//! Controls how many operators are captured: by the clock ([`duty`]), by the engine's speed
//! ([`controller`]) and by its calls ([`prompts`], [`steer`]). Also how often direct probes are read (`pace`).

pub mod controller;
pub mod duty;
#[cfg(feature = "direct")]
pub mod pace;
pub mod prompts;
pub mod steer;
