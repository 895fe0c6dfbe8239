//! The period of a graph.

use super::MAX_PERIOD;

/// The number of nodes after which a graph repeats, by its nodes. Equal numbers stand for equal
/// operators of equal shapes. The result is the shift at which most nodes equal the node that far
/// before them; of equally good shifts, the shortest. A graph without repetition gets the longest
/// period, so that different nodes do not share what is learnt.
#[must_use]
pub fn period(nodes: &[u64]) -> u16 {
    let longest = u16::try_from(nodes.len()).unwrap_or(MAX_PERIOD).clamp(1, MAX_PERIOD);
    let (mut best, mut most) = (longest, nodes.len() / 4);
    for shift in 1..longest {
        let Some(shifted) = nodes.get(usize::from(shift)..) else { break };
        // The rest can no longer be better.
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
