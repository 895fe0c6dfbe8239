//! Results for engines' files, synthetic and real ones.

#![cfg(all(feature = "arm64", feature = "x86"))]

mod asm;
mod damage;
mod direct;
mod elfgen;
mod facts;
mod fork;
mod messages;
mod oracle;
mod program;
mod real;
mod returned;
mod stripped;
mod structure;
mod synthetic;
