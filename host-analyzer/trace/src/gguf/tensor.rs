//! The entry of one tensor in a header.

use super::Error;
use super::bytes::Bytes;
use super::types;
use crate::model::Tensor;

/// Most bytes of a tensor's name. GGML allows at most 63.
const MOST_NAME: u64 = 256;

/// A tensor, and the offset of its bytes after the header.
pub(super) fn tensor(bytes: &mut Bytes<'_>) -> Result<(Tensor, u64), Error> {
    let name = bytes.text("name of a tensor", MOST_NAME)?;
    let dimensions = bytes.u32()?;
    let mut ne = [1_u64; 4];
    let Some(given) = usize::try_from(dimensions).ok().and_then(|n| ne.get_mut(..n)) else {
        return Err(Error::Dimensions(name));
    };
    for n in given {
        *n = bytes.u64()?;
    }
    let (dtype, offset) = (bytes.u32()?, bytes.u64()?);
    let Some(kind) = types::by_number(dtype) else { return Err(Error::TensorType { name, dtype }) };
    let elements = ne.iter().try_fold(1_u64, |product, n| product.checked_mul(*n));
    let Some(elements) = elements.filter(|n| *n > 0 && ne[0] % kind.elements == 0) else {
        return Err(Error::Dimensions(name));
    };
    let bytes = (elements / kind.elements)
        .checked_mul(kind.bytes)
        .ok_or(Error::Overflow { what: "size of a tensor" })?;
    Ok((Tensor { name, dtype: kind.name, ne, bytes }, offset))
}
