//! analyze.
fn main() {}
