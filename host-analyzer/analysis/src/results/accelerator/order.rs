//! Rows whose name matches several nodes: the neighbouring rows narrow down which node it was.
//!
//! A backend runs the nodes of a graph in order. A row between two identified rows can only be a
//! node between those two. Where several nodes remain, the row stays ambiguous.

use super::candidate::Place;

/// Those of `places` between the identified rows before and after in the same topology. If the row
/// after is not further on, it belongs to the next computation of the graph. Then only the row
/// before limits the nodes after it, and only the row after limits the nodes before it.
pub(super) fn between(places: &[Place], before: &[Place], behind: &[Place]) -> Vec<Place> {
    let possible = |place: &&Place| {
        let same =
            |bounds: &[Place]| -> Vec<_> { bounds.iter().filter(|b| b.0 == place.0).map(|b| b.1).collect() };
        let (before, behind) = (same(before), same(behind));
        before.iter().any(|p| {
            behind.iter().any(|q| match p <= q {
                true => *p <= place.1 && place.1 <= *q,
                false => *p <= place.1 || place.1 <= *q,
            })
        })
    };
    places.iter().filter(possible).copied().collect()
}
