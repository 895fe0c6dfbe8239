//! Parts of batches: a part has tokens, begins after the previous one, and survives encoding and
//! decoding.

use profinfer_wire::parts::{Cursor, MAX_PART_LEN, Part, Parts};

/// First byte: the number of parts. The rest: the parts.
pub fn part(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let mut decoder = Parts::new((*count).into(), rest);
    let parts: Vec<Part> = decoder.by_ref().collect();
    assert_eq!(decoder.failed, parts.len() < usize::from(*count));
    assert!(parts.iter().all(|p| p.n > 0));
    assert!(parts.windows(2).all(|two| two[0].first + two[0].n <= two[1].first), "one in another");
    let (mut cursor, mut buffer, mut at) = (Cursor::default(), vec![0; MAX_PART_LEN * parts.len()], 0);
    for part in &parts {
        at = cursor.encode(part, &mut buffer, at).expect("room");
    }
    let count = u16::try_from(parts.len()).expect("as many as a byte says");
    assert!(Parts::new(count, &buffer[..at]).eq(parts), "others");
}
