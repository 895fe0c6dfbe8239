//! Rows whose name fits several nodes: which of them it was, by the rows around.
//!
//! A backend runs the nodes of a graph in their order. A row between two rows of which it is known what they were can only be a node
//! between those. Where that leaves several, it stays open.

use super::candidate::Place;

/// Of `places`, those that lie between what ran before and behind in the same topology. A row behind that is not further on belongs to
/// the next computation of the graph; then only the one before is a bound for the nodes behind it, and the one behind for those before.
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
