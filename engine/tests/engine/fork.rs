//! Forks whose structs are longer than any release's: offsets come from their accessors, or there
//! are none.

use profinfer_engine::{Layout, describe};

use crate::asm::{Arch, BOTH};
use crate::elfgen::Elf;
use crate::program::base;
use crate::synthetic::plan;

/// Accessors for a struct with `more` bytes inserted before `src`, and `behind` bytes at its end;
/// `src` may be hidden.
fn fork(arch: Arch, more: u32, behind: u32, shows_src: bool) -> Elf {
    let mut elf = base(arch, 256 + more, 248 + more);
    elf.function("ggml_tensor_overhead", |asm| {
        asm.return_constant(u16::try_from(336 + more + behind + 32).expect("small"));
    });
    let first: [(&str, &[u32]); 4] = [
        ("ggml_element_size", &[0]),
        ("ggml_nelements", &[16]),
        ("ggml_is_transposed", &[48]),
        ("ggml_get_unary_op", &[80, 84]),
    ];
    for (name, offsets) in first {
        elf.function(name, |asm| {
            offsets.iter().for_each(|offset| asm.read_first(*offset));
            asm.ret();
        });
    }
    elf.function("ggml_backend_tensor_alloc", |asm| {
        [8, 232 + more, 248 + more].into_iter().for_each(|offset| asm.read_second(offset));
        asm.ret();
    });
    if shows_src {
        elf.function("ggml_soft_max_add_sinks", |asm| {
            asm.read_first(152 + more);
            asm.ret();
        });
    }
    elf
}

fn layout(elf: &mut Elf) -> (Option<Layout>, String) {
    let plan = plan(&mut [elf]);
    (plan.layout(), describe::layout(&plan.layout))
}

#[test]
fn fields_behind_the_name_make_it_longer() {
    for arch in BOTH {
        let (found, note) = layout(&mut fork(arch, 0, 64, true));
        assert_eq!(
            found.map(|l| (l.tensor_size, l.tensor_name, l.tensor_src)),
            Some((400, 256, 152)),
            "{note}"
        );
        assert!(note.contains("64 bytes more at the end"), "{note}");
    }
}

#[test]
fn fields_before_the_sources_move_them() {
    for arch in BOTH {
        let (found, note) = layout(&mut fork(arch, 16, 0, true));
        let all =
            found.map(|l| (l.tensor_size, l.tensor_src, l.tensor_view_src, l.tensor_data, l.tensor_name));
        assert_eq!(all, Some((352, 168, 248, 264, 272)), "{arch:?}: {note}");
        assert!(note.contains("with 16 bytes more"), "{note}");
        assert_eq!(found.map(|l| (l.tensor_type, l.tensor_op, l.tensor_flags)), Some((0, 80, 148)));
    }
}

#[test]
fn what_no_accessor_shows_is_not_guessed() {
    for arch in BOTH {
        let (found, note) = layout(&mut fork(arch, 16, 0, false));
        assert_eq!(found, None);
        assert!(note.contains("offset 272") && note.contains("do not reveal"), "{note}");
        // Shorter than any release's.
        let mut short = base(arch, 256, 248);
        short.function("ggml_tensor_overhead", |asm| asm.return_constant(300 + 32));
        assert_eq!(layout(&mut short).0, None);
    }
}

/// A linker has left only the accessor that gives a tensor its memory.
#[test]
fn without_the_name_what_tells_the_layouts_apart_is_enough() {
    let left = |arch, offsets: [u32; 3]| {
        let mut elf = Elf::new(arch);
        elf.function("ggml_backend_tensor_alloc", |asm| {
            offsets.into_iter().for_each(|offset| asm.read_second(offset));
            asm.ret();
        });
        layout(&mut elf)
    };
    for arch in BOTH {
        for (offsets, name) in [([8, 232, 248], 256), ([8, 240, 256], 264), ([8, 264, 280], 288)] {
            let (found, note) = left(arch, offsets);
            assert_eq!(found.map(|l| l.tensor_name), Some(name), "{note}");
            assert!(note.contains("seen in accessors: buffer, data, view_src;"), "{note}");
        }
        // An offset of no release, and one of two.
        for offsets in [[8, 232, 256], [8, 8, 8]] {
            let (found, note) = left(arch, offsets);
            assert_eq!(found, None);
            assert!(note.contains("ggml_get_name is missing"), "{note}");
        }
    }
}
