//! Counter values of spans: decoded values survive encoding and decoding, and no prefix decodes as
//! something else.

use profinfer_wire::counts::{Counted, Counts, MAX_COUNTED_LEN};

/// First byte: the number of counts. The rest: the counts.
pub fn count(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let mut decoder = Counts::new((*count).into(), rest);
    let mut seen = 0;
    for counted in decoder.by_ref() {
        seen += 1;
        let mut buffer = [0; MAX_COUNTED_LEN];
        let len = counted.encode(&mut buffer, 0).expect("room");
        let (whole, cut) =
            (buffer.get(..len).expect("in the buffer"), buffer.get(..len - 1).expect("not empty"));
        assert_eq!(Counted::decode(&mut &*whole), Some(counted));
        assert_eq!(Counted::decode(&mut &*cut), None);
    }
    assert_eq!(decoder.failed, seen < *count);
}
