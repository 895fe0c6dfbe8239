//! A recording in pieces: when a piece is full, what the next one must begin with, and how pieces are joined again.

mod join;
mod limit;
mod pieces;
mod state;

pub(super) use join::{Source, of};
pub(super) use limit::Limit;
pub(super) use pieces::{Pieces, remove_old};
