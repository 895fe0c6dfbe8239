//! Pieces of a recording, read alone.

use profinfer_wire::record::piece as wire;

use crate::model::{Health, Piece};

pub(super) fn begins(health: &mut Health, r: &wire::Piece) {
    let wire::Piece { number, spans, nested, sched, experts, .. } = *r;
    health.piece = Some(Piece { number, goes_on: false, spans, nested, sched, experts });
}

pub(super) fn ends(health: &mut Health, r: &wire::PieceEnd) {
    let piece = health.piece.unwrap_or_default();
    health.piece = Some(Piece { number: r.number, goes_on: true, ..piece });
}
