//! `analyze`: see [`analyze`].

use std::process::ExitCode;

use profinfer_scratch::Allocator;

/// For tables that are larger than memory, and huge pages for those that are not.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    analyze::main()
}
