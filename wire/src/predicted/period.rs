//! The period of a graph.

use super::MAX_PERIOD;

/// After how many nodes a graph repeats, by what its nodes are (any number that is equal for equal operators of equal shapes):
/// the shift at which most nodes have an equal one that far before them, the shortest of the best. A graph without repetition
/// gets the longest period there is, so that different nodes do not share what is learnt.
#[must_use]
pub fn period(nodes: &[u64]) -> u16 {
    let longest = u16::try_from(nodes.len()).unwrap_or(MAX_PERIOD).clamp(1, MAX_PERIOD);
    let (mut best, mut most) = (longest, nodes.len() / 4);
    for shift in 1..longest {
        let Some(shifted) = nodes.get(usize::from(shift)..) else { break };
        // What is left can no longer be better.
        if shifted.len() <= most {
            break;
        }
        let equal = shifted.iter().zip(nodes).filter(|(a, b)| a == b).count();
        if equal > most {
            (best, most) = (shift, equal);
        }
    }
    best
}
