//! The type of a buffer is read out of a process's memory: here out of this one's, where structs as the engine's lie.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs::{self, File};

use profinfer_agent::link::Output;
use profinfer_agent::link::emit::Emitter;
use profinfer_agent::link::output::Kind;
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
    words.resize(16, 0);
    words
}

#[test]
fn the_name_is_what_the_types_first_function_returns() {
    let kind = [function(repack), 0, 0];
    let other = function(nothing);
    for functions in [&[other, 0, other, other][..], &[0, 0, other, 0, 0, 0, other, 0, other], &[]] {
        assert_eq!(read(&buffer(functions, &kind)), "CPU_REPACK", "{functions:x?}");
    }
}

#[test]
fn what_is_no_type_has_no_name() {
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
    // A type behind another pointer to data is not looked for: it need not be this buffer's.
    let (kind, first) = ([function(repack), 0, 0], [1_usize, 2]);
    let mut words = buffer(&[other, first.as_ptr() as usize], &kind);
    assert_eq!(read(&words), "");
    words.fill(0);
    assert_eq!(read(&words), "");
    for nowhere in [0, 8, u64::MAX - 7, u64::MAX] {
        assert_eq!(read_at(nowhere), "");
    }
}

/// An engine that ends leaves graphs behind whose weights nobody can look for any more.
#[test]
fn a_buffer_that_is_gone_is_what_it_was() {
    let out = tempfile::NamedTempFile::new().unwrap();
    let output = Output::new(out.reopen().unwrap(), Kind::File, "the test").unwrap();
    let mut emit = Emitter::begin(output, [7; 16]);
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
    emit.flush();
    let buffers = profinfer_trace::read(&fs::read(out.path()).unwrap()).unwrap().buffers;
    let kinds: Vec<_> = buffers.iter().map(|b| b.kind.as_str()).collect();
    assert_eq!(kinds, ["CPU_REPACK"], "one for both: nothing that is not known was told of the second");
}
