//! The machine code of the stubs and the bootstrap, between the labels in the file of each
//! processor.

use super::{Boot, Stubs};

unsafe extern "C" {
    static profinfer_direct_page: u8;
    static profinfer_direct_fused: u8;
    static profinfer_direct_start: u8;
    static profinfer_direct_end: u8;
    static profinfer_direct_page_end: u8;
    static profinfer_direct_boot: u8;
    static profinfer_direct_boot_values: u8;
    static profinfer_direct_boot_end: u8;
}

/// The stubs, as they are copied into an engine.
#[must_use]
pub fn stubs() -> Stubs {
    let page = &raw const profinfer_direct_page;
    let from = |label: *const u8| label.addr() - page.addr();
    let size = from(&raw const profinfer_direct_page_end);
    Stubs {
        // SAFETY: The labels are the beginning and the end of the code, in that order, in read-only
        // memory.
        bytes: unsafe { std::slice::from_raw_parts(page, size) },
        start: from(&raw const profinfer_direct_start),
        fused: from(&raw const profinfer_direct_fused),
        end: from(&raw const profinfer_direct_end),
    }
}

/// The bootstrap, as it is copied into an engine.
#[must_use]
pub fn boot() -> Boot {
    let code = &raw const profinfer_direct_boot;
    let from = |label: *const u8| label.addr() - code.addr();
    let size = from(&raw const profinfer_direct_boot_end);
    Boot {
        // SAFETY: As in `stubs`.
        bytes: unsafe { std::slice::from_raw_parts(code, size) },
        values: from(&raw const profinfer_direct_boot_values),
    }
}
