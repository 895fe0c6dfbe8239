//! Values of gauges: decoded values survive encoding and decoding, and no prefix decodes as
//! something else.

use profinfer_wire::gauges::{GaugeSample, Gauges, MAX_SAMPLE_LEN};

/// First byte: the number of samples. The rest: the samples.
pub fn gauge(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let mut decoder = Gauges::new((*count).into(), rest);
    let mut seen = 0;
    for sample in decoder.by_ref() {
        seen += 1;
        let mut buffer = [0; MAX_SAMPLE_LEN];
        let len = sample.encode(&mut buffer, 0).expect("room");
        let (whole, cut) =
            (buffer.get(..len).expect("in the buffer"), buffer.get(..len - 1).expect("not empty"));
        assert_eq!(GaugeSample::decode(&mut &*whole), Some(sample));
        assert_eq!(GaugeSample::decode(&mut &*cut), None);
    }
    assert_eq!(decoder.failed, seen < *count);
}
