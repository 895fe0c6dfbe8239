//! Headers of GGUF files, valid and hostile.

use std::io::Read;

use profinfer_trace::gguf::{self, Error};
use proptest::prelude::*;

use super::file::{File, text};

fn small() -> File {
    let layers = |of: &[u32]| {
        let items: Vec<u8> = of.iter().flat_map(|n| n.to_le_bytes()).collect();
        [&4_u32.to_le_bytes()[..], &(of.len() as u64).to_le_bytes(), &items].concat()
    };
    let words = ["a", "bc", ""].iter().flat_map(|w| text(w)).collect::<Vec<u8>>();
    let words = [&8_u32.to_le_bytes()[..], &3_u64.to_le_bytes(), &words].concat();
    File::new("llama")
        .number("llama.block_count", 2)
        .setting("tokenizer.ggml.tokens", 9, words)
        .setting("llama.attention.head_count_kv", 9, layers(&[4, 2]))
        .setting("llama.rope.freq_base", 6, 1e4_f32.to_le_bytes().to_vec())
        .setting("llama.negative", 5, (-1_i32).to_le_bytes().to_vec())
        .setting("general.name", 8, text("x"))
        .tensor("token_embd.weight", &[64, 10], 8, 680)
        .tensor("output_norm.weight", &[64], 0, 256)
}

#[test]
fn what_a_header_tells() {
    let file = small();
    let read = file.read().unwrap();
    assert_eq!(
        (read.architecture.as_str(), read.file_bytes),
        ("llama", (file.header().len() + 704 + 256) as u64)
    );
    assert_eq!(read.number("block_count"), Some(2));
    assert_eq!([0, 1, 2].map(|l| read.of_layer("attention.head_count_kv", l)), [Some(4), Some(2), None]);
    assert_eq!([read.number("rope.freq_base"), read.number("negative")], [None, None]);
    let [embd, norm] = &read.tensors[..] else { panic!("{:?}", read.tensors) };
    // Two blocks of 34 bytes per row, ten rows.
    assert_eq!(
        (embd.name.as_str(), embd.dtype, embd.ne, embd.bytes),
        ("token_embd.weight", "q8_0", [64, 10, 1, 1], 680)
    );
    assert_eq!((norm.dtype, norm.bytes, norm.elements()), ("f32", 256, 64));
    assert_eq!(read.files(), 1);
}

/// The reader stops at the last tensor's description and reads nothing after the header.
#[test]
fn only_the_header_is_read() {
    struct Counted(std::io::Cursor<Vec<u8>>, u64);
    impl Read for Counted {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.read(into)?;
            self.1 += n as u64;
            Ok(n)
        }
    }
    let file = small();
    let mut bytes = file.header();
    let header = bytes.len() as u64;
    bytes.resize(bytes.len() + file.weights, 7);
    let length = bytes.len() as u64;
    let mut source = Counted(std::io::Cursor::new(bytes), 0);
    gguf::read(&mut source, length).unwrap();
    assert!(source.1 <= header, "{} of {header}", source.1);
}

fn fails(file: &File, wanted: &str) {
    let error = file.read().expect_err(wanted);
    assert!(error.to_string().contains(wanted), "{error}");
}

#[test]
fn hostile_headers() {
    let header = small().header();
    for cut in 0..header.len() - 32 {
        let cut_header = gguf::read(&mut &header[..cut], cut as u64);
        assert!(matches!(cut_header, Err(Error::Ends(_))), "{cut}: {cut_header:?}");
    }
    assert!(matches!(gguf::read(&mut &b"GGML"[..], 4), Err(Error::NotGguf)));
    for version in [0, 1, 4, 3_u32.swap_bytes()] {
        fails(&File { version, ..small() }, "version");
    }
    let with = |at: usize, value: u64| {
        let mut bytes = header.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let length = bytes.len() as u64 + 960;
        gguf::read(&mut &bytes[..], length)
    };
    // The number of tensors, of settings, and the length of the first key.
    for value in [u64::MAX, 1 << 40, 100_000] {
        assert!(matches!(with(8, value), Err(Error::TooMany { .. })), "{value}");
        assert!(matches!(with(16, value), Err(Error::TooMany { .. })), "{value}");
    }
    assert!(matches!(with(24, u64::MAX), Err(Error::Long { .. })));
    assert!(matches!(with(24, 65_000), Err(Error::Ends(_))));

    let list = |dtype: u32, n: u64| [&dtype.to_le_bytes()[..], &n.to_le_bytes()].concat();
    fails(&small().setting("x", 9, list(8, u64::MAX)), "cut");
    fails(&small().setting("x", 9, list(10, u64::MAX)), "larger than 64 bits");
    fails(&small().setting("x", 9, list(0, 1 << 60)), "cut");
    fails(&small().setting("x", 13, vec![]), "type 13");
    fails(&small().setting("x", 9, list(99, 0)), "type 99");
    let nested: Vec<u8> = (0..9).flat_map(|_| list(9, 1)).collect();
    fails(&small().setting("x", 9, nested), "lists in lists");
    fails(&small().number("llama.block_count", 3), "twice");
    fails(&small().number("general.alignment", 3), "power of two");
    fails(&small().number("general.alignment", 0), "power of two");

    fails(&small().tensor("t", &[64, 1, 1, 1, 1], 0, 0), "dimensions");
    fails(&small().tensor("t", &[0, 4], 0, 0), "dimensions");
    fails(&small().tensor("t", &[33], 8, 0), "dimensions");
    fails(&small().tensor("t", &[1 << 32, 1 << 32], 0, 0), "dimensions");
    fails(&small().tensor("t", &[1 << 62], 0, 0), "size of a tensor");
    fails(&small().tensor("t", &[1 << 40], 0, 0), "its weights end at byte");
    fails(&small().tensor("t", &[4], 4, 0), "type 4");
    fails(&small().tensor("output_norm.weight", &[4], 0, 16), "twice");
    let mut far = small();
    far.tensors[1].3 = u64::MAX - 4;
    fails(&far, "larger than 64 bits");
    far.tensors[1].3 = 1 << 40;
    fails(&far, "its weights end at byte");
    far.tensors[0].0 = "n".repeat(300);
    fails(&far, "name of a tensor");
}

/// An error quotes names that contain terminal control characters.
#[test]
fn errors_do_not_steer() {
    let error = small().tensor("\u{1b}[2J", &[4], 4, 0).read().unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

proptest! {
    /// Any change of a header gives a blueprint or an error, and a blueprint stays within the file.
    #[test]
    fn changed_headers(at in 0_usize..400, value: u8, cut in 0_usize..500, more in 0_u64..10_000) {
        let mut bytes = small().header();
        let at = at % bytes.len();
        bytes[at] = value;
        bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(100)));
        let length = bytes.len() as u64 + more;
        if let Ok(read) = gguf::read(&mut &bytes[..], length) {
            let weights: u64 = read.tensors.iter().map(|t| t.bytes).max().unwrap_or(0);
            prop_assert!(weights <= length);
        }
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300), length: u64) {
        let _ = gguf::read(&mut &bytes[..], length);
        let begun = [&b"GGUF\x03\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"[..], &bytes].concat();
        let _ = gguf::read(&mut &begun[..], length);
    }
}
