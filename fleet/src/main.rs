//! Many recordings.

fn main() {}
