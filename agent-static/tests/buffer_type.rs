//! Reads the type of a buffer from a process's memory: here from this process, with structs like
//! the engine's.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "common/stream.rs"]
mod stream;

use std::fs::File;

use profinfer_agent::observe::placement::buffer_type::BufferTypes;
use profinfer_agent::observe::placement::{Placements, Unplaced, Weight};
use profinfer_agent::target::maps::mappings;

static REPACK: [u8; 11] = *b"CPU_REPACK\0";
static BELL: [u8; 2] = *b"\x07\0";
static ENDLESS: [u8; 64] = [b'a'; 64];

extern "C" fn repack(_: usize) -> *const u8 {
    (&raw const REPACK).cast()
}
extern "C" fn bell(_: usize) -> *const u8 {
    (&raw const BELL).cast()
}
extern "C" fn endless(_: usize) -> *const u8 {
    (&raw const ENDLESS).cast()
}
extern "C" fn nothing(_: usize) -> usize {
    0
}

fn function<T>(f: extern "C" fn(usize) -> T) -> usize {
    f as *const () as usize
}

/// Reads the type of a buffer of this process.
fn read(buffer: &[usize]) -> String {
    read_at(buffer.as_ptr() as u64)
}

fn read_at(address: u64) -> String {
    let (memory, maps) = (File::open("/proc/self/mem").unwrap(), mappings(std::process::id()));
    let mut types = BufferTypes::new(Some(&memory), &maps);
    let name = types.name(address).to_owned();
    assert_eq!(types.name(address), name, "the second time");
    assert_eq!(BufferTypes::new(None, &maps).name(address), "", "a process that has ended");
    name
}

/// A buffer: function pointers, its type, its data, its size.
fn buffer(functions: &[usize], kind: &[usize]) -> Vec<usize> {
    let mut words = functions.to_vec();
    words.extend([kind.as_ptr() as usize, kind.as_ptr() as usize + 4096, 1 << 20]);
    words.resize(24, 0);
    words
}

#[test]
fn the_name_is_what_the_types_first_function_returns() {
    let kind = [function(repack), 0, 0];
    let other = function(nothing);
    // The last two: as many as llama.cpp 0.8.0 has, and more.
    let (fourteen, more) = ([other; 14], [other; 20]);
    for functions in
        [&[other, 0, other, other][..], &[0, 0, other, 0, 0, 0, other, 0, other], &[], &fourteen, &more]
    {
        assert_eq!(read(&buffer(functions, &kind)), "CPU_REPACK", "{functions:x?}");
    }
}

#[test]
fn invalid_types_have_no_name() {
    let other = function(nothing);
    for kind in [
        [function(bell), 0, 0],
        [function(endless), 0, 0],
        [other, function(repack), 0],
        [0, function(repack), 0],
        // A word that points to data.
        [REPACK.as_ptr() as usize, 0, 0],
    ] {
        assert_eq!(read(&buffer(&[other, other], &kind)), "", "{kind:x?}");
    }
    // A type after another pointer to data is ignored: it need not be this buffer's type.
    let (kind, first) = ([function(repack), 0, 0], [1_usize, 2]);
    let mut words = buffer(&[other, first.as_ptr() as usize], &kind);
    assert_eq!(read(&words), "");
    words.fill(0);
    assert_eq!(read(&words), "");
    for nowhere in [0, 8, u64::MAX - 7, u64::MAX] {
        assert_eq!(read_at(nowhere), "");
    }
}

/// An ending engine leaves graphs whose weights cannot be located any more.
#[test]
fn a_freed_buffer_keeps_its_type() {
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut emit = stream::begin(out.path());
    let kind = [function(repack), 0, 0];
    let mut lost = buffer(&[function(nothing)], &kind);
    let mut placements = Placements::default();
    let mut send = |topology, buffer: &[usize]| {
        let at = buffer.as_ptr() as u64;
        let weights = vec![Weight { index: 0, buffer: at, data: at, bytes: 8 }];
        placements.send(&Unplaced { topology, pid: std::process::id(), weights }, &mut emit);
    };
    send(1, &lost);
    lost.fill(0);
    send(2, &lost);
    let buffers = stream::finish(emit, out.path()).buffers;
    let kinds: Vec<_> = buffers.iter().map(|b| b.kind.as_str()).collect();
    assert_eq!(kinds, ["CPU_REPACK"], "one record for both: the second is unknown");
}
