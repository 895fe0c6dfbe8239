//! Headers of GGUF files.
//!
//! Checked: every file gives a blueprint or an error with a message; every tensor's bytes are in
//! the file; a census of it has a result and reads no more per token than the file has.

use profinfer_analysis::predict::Census;
use profinfer_trace::gguf;

/// Largest file for a claimed length.
const LENGTH: u64 = 1 << 40;

/// A length of eight bytes, then the bytes of the file.
pub fn gguf(bytes: &[u8]) {
    let Some((length, file)) = bytes.split_first_chunk::<8>() else { return };
    let length = u64::from_le_bytes(*length) % LENGTH;
    let blueprint = match gguf::read(&mut &file[..], length) {
        Ok(blueprint) => blueprint,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return;
        }
    };
    for tensor in &blueprint.tensors {
        assert!(tensor.bytes <= length, "{}: {} bytes in a file of {length}", tensor.name, tensor.bytes);
    }
    let all = blueprint.tensors.iter().fold(0_u64, |sum, t| sum.saturating_add(t.bytes));
    if let Ok(census) = Census::new(&blueprint, length) {
        // A row of embeddings that are also the output is read in addition to them.
        assert!(census.weight_bytes() <= all.saturating_mul(2));
        assert!(
            census.by_type().values().fold(0_u64, |sum, n| sum.saturating_add(*n)) == census.matrix_bytes()
        );
    }
}
