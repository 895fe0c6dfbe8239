//! Agent binary.
fn main() {}
