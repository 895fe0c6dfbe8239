//! Broken files: whatever the bytes, the agent answers soon and within its memory limit.

use std::path::PathBuf;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use profinfer_engine::{Image, ProbeKind, describe, examine, is_engine_part, library_event_site};

use profinfer_skip::needed_path;

use crate::asm::{Arch, BOTH};
use crate::direct::library;
use crate::elfgen::Pointing;
use crate::program::{Shape, base, cpu};
use crate::real::libraries;
use crate::synthetic::ways;

/// Address space of the test process, bytes: far more than needed, far less than a broken size
/// requests.
const MEMORY: u64 = 4 << 30;

fn limit_memory() {
    let (_, hard) = getrlimit(Resource::RLIMIT_AS).expect("readable");
    setrlimit(Resource::RLIMIT_AS, MEMORY.min(hard), hard).expect("lowered");
}

/// Examines bytes and checks that every site is inside them; returns whether they were an ELF file.
fn survives(bytes: &[u8]) -> bool {
    let Ok(image) = Image::parse("broken", bytes) else { return false };
    assert!(library_event_site(&image).is_none_or(|offset| offset < bytes.len() as u64));
    let part = is_engine_part(&image, &[]);
    let images = [image];
    let plan = examine(&images, &[]);
    assert!(part || plan.sites.is_empty());
    assert!(plan.sites.iter().all(|s| s.offset < bytes.len() as u64));
    let places = plan.files.iter().flat_map(|f| &f.direct).flatten().flat_map(|d| &d.places);
    assert!(places.into_iter().all(|p| p.offset + p.bytes.len() as u64 <= bytes.len() as u64));
    assert!(!describe::plan(&plan, &images, true).is_empty());
    true
}

/// Numbers that look random and are the same in every run (Knuth's MMIX constants).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Small valid engines: a base library, a CPU library without section headers, one with, and one
/// with a jump table.
fn small_engines(arch: Arch) -> [Vec<u8>; 4] {
    let bypass = Some("ggml_compute_forward_norm_mul_fused");
    let mut relr = base(arch, 256, 248);
    relr.pointing = Pointing::Relr;
    let mut bare = cpu(arch, Shape { imported: true, bypass, operators: 25, ..Shape::default() });
    bare.sections = false;
    [
        relr.build(),
        bare.build(),
        cpu(arch, Shape { operators: 25, ..Shape::default() }).build(),
        library(arch),
    ]
}

/// The fuzzer's first inputs.
#[test]
#[ignore = "ci/fuzz.sh runs it"]
fn write_seeds() {
    let Some(dir) = needed_path("PROFINFER_SEEDS", "ci/fuzz.sh") else { return };
    for arch in BOTH {
        for (n, engine) in small_engines(arch).iter().enumerate() {
            std::fs::write(dir.join(format!("{arch:?}-{n}")), engine).expect("written");
        }
    }
}

#[test]
fn every_cut_and_every_changed_byte_of_a_small_engine() {
    limit_memory();
    for arch in BOTH {
        for good in small_engines(arch) {
            assert!(survives(&good));
            let whole = (0..good.len()).filter(|end| survives(&good[..*end])).count();
            assert!(whole < 512, "only what is not loaded may be cut off: {whole} cuts passed");
            let mut bytes = good.clone();
            for at in 0..good.len() {
                for change in [0x01, 0x80, 0xff, good[at]] {
                    bytes[at] = good[at] ^ change;
                    survives(&bytes);
                }
                bytes[at] = good[at];
            }
        }
    }
}

#[test]
fn sizes_and_addresses_that_are_absurd() {
    limit_memory();
    let absurd = [u64::MAX, u64::MAX - 7, i64::MAX.cast_unsigned(), 1 << 63, 1 << 47, 1 << 32, 0x1_0000, 0];
    for arch in BOTH {
        for good in [base(arch, 256, 248).build(), cpu(arch, Shape::default()).build()] {
            let mut bytes = good.clone();
            for at in (0..good.len() - 8).step_by(4) {
                for value in absurd {
                    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                    survives(&bytes);
                }
                bytes[at..at + 8].copy_from_slice(&good[at..at + 8]);
            }
        }
    }
}

#[test]
fn real_libraries_cut_and_changed() {
    limit_memory();
    let (Some(new), Some(old)) = (libraries("PROFINFER_ENGINE_DIR"), libraries("PROFINFER_OLD_ENGINE_DIR"))
    else {
        return;
    };
    let mut numbers = Numbers(42);
    let named = |files: &[PathBuf], part: &str| {
        files.iter().find(|f| f.to_string_lossy().contains(part)).expect("there").clone()
    };
    for file in [
        named(&new, "libggml-base"),
        named(&new, "libggml-cpu-x64"),
        named(&new, "ld-linux"),
        named(&old, "libggml.so"),
    ] {
        let good = std::fs::read(&file).expect("readable");
        for _ in 0..40 {
            survives(&good[..numbers.below(good.len())]);
        }
        let mut bytes = good.clone();
        for _ in 0..60 {
            // Half of the changes are where the tables are: at the start and at the end of the
            // file.
            let changes: Vec<usize> = (0..1 + numbers.below(64))
                .map(|n| match n % 4 {
                    0 => numbers.below(1024),
                    1 => good.len() - 1 - numbers.below(16_384),
                    _ => numbers.below(good.len()),
                })
                .collect();
            for at in &changes {
                bytes[*at] = numbers.below(256) as u8;
            }
            survives(&bytes);
            for at in changes {
                bytes[at] = good[at];
            }
        }
    }
}

/// Without the names of its functions, the old library's operator function is found by its
/// structure; a damaged structure does no harm.
#[test]
fn a_real_library_without_names_damaged() {
    limit_memory();
    let Some(files) = libraries("PROFINFER_OLD_ENGINE_DIR") else { return };
    let file = files.iter().find(|f| f.to_string_lossy().contains("libggml.so")).expect("there");
    let mut bytes = std::fs::read(file).expect("readable");
    let found = |bytes: &[u8]| {
        let images = [Image::parse("stripped", bytes).expect("an ELF file")];
        let plan = examine(&images, &[]);
        let site = plan.sites.iter().find(|s| s.kind == ProbeKind::OpFunction);
        (ways(&plan)[2].clone(), site.map(|s| s.offset))
    };
    let (named, by_name) = found(&bytes);
    assert_eq!(named, Ok("function ggml_compute_forward".to_owned()));
    // e_shoff, e_shnum and e_shstrndx of the ELF header: without sections there is no full table of
    // symbols.
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    let (stripped, by_structure) = found(&bytes);
    assert_eq!(stripped, Ok("dispatcher found by its structure".to_owned()));
    assert_eq!(by_structure, by_name, "it is the same function");
    let mut numbers = Numbers(7);
    let function = usize::try_from(by_name.expect("found")).expect("small");
    for _ in 0..60 {
        let at = function + numbers.below(1 << 14);
        let old = std::mem::replace(&mut bytes[at], numbers.below(256) as u8);
        survives(&bytes);
        bytes[at] = old;
    }
}
