//! A long context compared with half of it.

use super::causes::generate;
use super::{Run, kept};
use crate::support::parts;

/// A prompt of `n` words before generation.
fn after(run: &Run, words: usize) -> Run {
    let mut run = run.clone();
    run.command.extend(["-p".to_owned(), "word ".repeat(words), "-c".to_owned(), "4096".to_owned()]);
    run
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_long_context() {
    let Some(parts) = parts() else { return };
    let Some(run) = generate(&parts, "2", "900") else { return };
    let Some(short) = generate(&parts, "2", "96") else { return };
    // 1,100 to 2,000 cells, 1,550 in the mean; half of them for the other.
    kept(&parts, "context_growth", &after(&run, 1100), &after(&short, 730));
}
