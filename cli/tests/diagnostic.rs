//! The text of an error.

use profinfer_cli::Diagnostic;

#[test]
fn a_diagnostic_has_three_parts_and_no_prefix() {
    let one = Diagnostic::new("opening /dev/ttyS1", "No such device", "check the wiring");
    assert_eq!(one.to_string(), "opening /dev/ttyS1: No such device\n  help: check the wiring");
    // One diagnostic can be the answer of another one.
    let outer = Diagnostic::new("serving", &one, "retry").to_string();
    assert!(outer.starts_with("serving: opening /dev/ttyS1: "), "{outer}");
}
