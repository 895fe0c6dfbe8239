//! Code for older processors instead of this one's.

use super::causes::{generate, generate_by};
use super::kept;
use crate::support::{engine, parts};

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_generic_cpu_variant() {
    let Some(parts) = parts() else { return };
    let Some(generic) = engine("PROFINFER_GENERIC_ENGINE_DIR") else { return };
    let slow = generate_by(&generic.join("llama-completion"), &parts, "1", "48");
    let Some(fast) = generate(&parts, "1", "48") else { return };
    kept(&parts, "cpu_variant", &slow, &fast);
}
