//! The kind of memory at an address of a process.

use super::Weight;
use crate::target::maps::Mapping;

/// Location of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The maps could not be read, or the data begins and ends in different places.
    Unknown,
    /// In a mapping of this file.
    File(String),
    /// In the process's anonymous memory.
    Anonymous,
    /// In no memory of the process, or in mapped device memory.
    Device,
}

impl Place {
    /// The plausible location for a buffer with the type name `kind`. An unmapped address belongs
    /// to a device, unless the engine has freed its model in the meantime: then the buffer's type
    /// is unreadable too.
    #[must_use]
    pub fn believed(self, kind: &str) -> Self {
        if self == Self::Device && kind.is_empty() { Self::Unknown } else { self }
    }
}

/// Location of a weight, from the mappings of its process in address order.
#[must_use]
pub fn place(mappings: &[Mapping], weight: &Weight) -> Place {
    if mappings.is_empty() || weight.data == 0 {
        return Place::Unknown;
    }
    let first = of_address(mappings, weight.data);
    let last = of_address(mappings, weight.data.saturating_add(weight.bytes.saturating_sub(1)));
    if first == last { first } else { Place::Unknown }
}

fn of_address(mappings: &[Mapping], address: u64) -> Place {
    let at = mappings.partition_point(|m| m.end <= address);
    match mappings.get(at) {
        Some(mapping) if mapping.start <= address => of_mapping(mapping),
        _ => Place::Device,
    }
}

fn of_mapping(mapping: &Mapping) -> Place {
    let path = mapping.path.as_str();
    // Files with a name outside of any file system: shared memory.
    let shared_memory = ["/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"];
    match () {
        // `[heap]`, `[anon:…]`, or no name at all.
        () if !path.starts_with('/') && !path.starts_with("anon_inode:") => Place::Anonymous,
        () if shared_memory.iter().any(|n| path.starts_with(n)) => Place::Anonymous,
        // A file in /dev/shm is an ordinary file in memory; everything else in /dev is device
        // memory.
        () if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") => Place::Device,
        () if path.starts_with("anon_inode:") => Place::Device,
        () => Place::File(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::maps::FileId;

    fn mapping(start: u64, end: u64, path: &str) -> Mapping {
        Mapping {
            start,
            end,
            offset: 0,
            executable: false,
            writable: true,
            id: FileId::default(),
            path: path.to_owned(),
        }
    }

    fn weight(data: u64, bytes: u64) -> Weight {
        Weight { index: 0, buffer: 0, data, bytes }
    }

    #[test]
    fn a_weight_is_where_its_first_and_last_byte_are() {
        let maps = [
            mapping(0x1000, 0x3000, "/m.gguf"),
            // The kernel splits a mapping if a part of it gets different permissions or advice.
            mapping(0x3000, 0x4000, "/m.gguf"),
            mapping(0x4000, 0x5000, ""),
            mapping(0x9000, 0xa000, "/n.gguf"),
        ];
        let at = |data, bytes| place(&maps, &weight(data, bytes));
        assert_eq!(at(0x1000, 0x2000), Place::File("/m.gguf".to_owned()));
        assert_eq!(at(0x2ff0, 0x20), Place::File("/m.gguf".to_owned()));
        assert_eq!(at(0x3ff0, 0x20), Place::Unknown);
        assert_eq!(at(0x4000, 0x1000), Place::Anonymous);
        assert_eq!(at(0x4000, 0), Place::Anonymous, "its type has an unknown size");
        assert_eq!(at(0x5000, 1), Place::Device, "after the last byte of a mapping");
        assert_eq!(at(0xfff, 1), Place::Device);
        assert_eq!(at(u64::MAX, 2), Place::Device);
        assert_eq!(at(0, 16), Place::Unknown, "not allocated");
        assert_eq!(place(&[], &weight(0x1000, 1)), Place::Unknown, "the maps could not be read");
    }

    #[test]
    fn a_device_without_a_name_is_unknown() {
        assert_eq!(Place::Device.believed("Vulkan0"), Place::Device);
        assert_eq!(Place::Device.believed(""), Place::Unknown);
        assert_eq!(Place::Anonymous.believed(""), Place::Anonymous);
        assert_eq!(Place::File("/m".to_owned()).believed(""), Place::File("/m".to_owned()));
    }

    #[test]
    fn mapping_names_determine_the_kind_of_memory() {
        let cases = [
            ("/models/m.gguf", Place::File("/models/m.gguf".to_owned())),
            ("/dev/shm/m.gguf", Place::File("/dev/shm/m.gguf".to_owned())),
            ("", Place::Anonymous),
            ("[heap]", Place::Anonymous),
            ("[anon:scudo:primary]", Place::Anonymous),
            ("/memfd:weights (deleted)", Place::Anonymous),
            ("/dev/zero (deleted)", Place::Anonymous),
            ("/dev/dri/renderD128", Place::Device),
            ("/dev/mali0", Place::Device),
            ("anon_inode:i915.gem", Place::Device),
        ];
        for (path, expected) in cases {
            assert_eq!(of_mapping(&mapping(0, 1, path)), expected, "{path}");
        }
    }
}
