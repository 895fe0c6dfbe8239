//! A recording in pieces: when a piece is full, what the next one must begin with, and how pieces are joined again. The last seconds of
//! a session are such a piece too, in memory.

mod join;
mod limit;
mod pieces;
mod state;
mod window;

pub(super) use join::{Source, is_piece, of};
pub(super) use limit::Limit;
pub(super) use pieces::{Pieces, remove_old};
pub(super) use window::{Last, Window};
