//! Backend names by the GUIDs that GGML gives them.

/// First four bytes of the GUIDs and the backends' names. build.rs generates them from
/// `boards/backends`.
const GUIDS: &[([u8; 4], &str)] = include!(concat!(env!("OUT_DIR"), "/backend_guids.rs"));

/// Fits the longest name that [`name`] returns.
pub type Name = heapless::String<32>;

/// The backend's name for the first eight bytes of its GUID. 0 is the CPU; an unknown GUID becomes
/// hexadecimal digits.
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
