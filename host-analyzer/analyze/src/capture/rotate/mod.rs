//! A recording in pieces: when a piece is full, what the next one must repeat, and how pieces are
//! joined. The last seconds of a session are such a piece, in memory.

mod join;
mod limit;
mod pieces;
mod state;
mod window;

pub(crate) use join::{Source, WHOLE, is_piece, of};
pub(crate) use limit::Limit;
pub(crate) use pieces::{Pieces, remove_old};
pub(crate) use window::{Last, Window};
