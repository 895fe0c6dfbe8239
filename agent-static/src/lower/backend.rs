//! Backends by the GUIDs that GGML gives them.

/// First four bytes of the GUIDs and the backends' names, from the `ggml_backend_*_guid` functions of GGML and of the
/// RKNN fork; OpenVINO's backend bears BLAS's.
const GUIDS: [([u8; 4], &str); 10] = [
    ([0xaa, 0x67, 0xc7, 0x43], "CPU"),
    ([0xb8, 0xf7, 0x4f, 0x86], "Vulkan"),
    ([0x2c, 0xdd, 0xe8, 0x1c], "CUDA"),
    ([0x99, 0x68, 0x5b, 0x6c], "RPC"),
    ([0xde, 0xe0, 0x70, 0xa2], "OpenCL"),
    ([0x12, 0xa8, 0xae, 0xf4], "BLAS"),
    ([0x58, 0x05, 0x13, 0x8f], "SYCL"),
    ([0x81, 0xa1, 0x8b, 0x1e], "Metal"),
    ([0xa1, 0x94, 0xaf, 0xac], "CANN"),
    ([0xc9, 0xbd, 0xb7, 0x02], "RKNN"),
];

/// Longest name that [`name`] makes.
pub type Name = heapless::String<32>;

/// The backend's name by the first eight bytes of its GUID; an unknown one is called by them, none is the CPU.
#[must_use]
pub fn name(guid: u64) -> Name {
    use std::fmt::Write;
    let mut name = Name::new();
    let bytes = guid.to_le_bytes();
    let known = GUIDS.iter().find(|(first, _)| bytes.starts_with(first)).map(|(_, name)| *name);
    let written = match known {
        _ if guid == 0 => name.write_str("CPU"),
        Some(known) => name.write_str(known),
        None => bytes.iter().try_for_each(|b| write!(name, "{b:02x}")),
    };
    debug_assert!(written.is_ok(), "sixteen digits fit");
    name
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names() {
        assert_eq!(name(0), "CPU");
        assert_eq!(name(u64::from_le_bytes([0xb8, 0xf7, 0x4f, 0x86, 0x40, 0x3c, 0xe1, 0x02])), "Vulkan");
        assert_eq!(name(u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 0xff])), "01020304050607ff");
    }
}
