//! Two milliseconds between the `llama_decode` calls.

use profinfer_analysis::budget::Class;

use super::{DELAY_NS, holds, only_in, tokens};
use crate::support::{engine, model, parts, record};

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn a_delay_of_the_application() {
    let Some(parts) = parts() else { return };
    let (Some(bin), Some(standin)) = (engine("PROFINFER_ENGINE_DIR"), engine("PROFINFER_STANDIN_DIR")) else {
        return;
    };
    let preload = format!("LD_PRELOAD={}", standin.parent().unwrap().join("libdelay.so").display());
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-q8"));
    let run = |delay: &str| {
        let words = ["env", &preload, delay, nodes.to_str().unwrap(), "-m", &gguf];
        let command = [&words[..], &["-t", "1", "-p", "5", "-n", "60"]].concat();
        tokens(&record(&parts, &[], &command).0)
    };
    holds(|| only_in(Class::Application, DELAY_NS, &run("DELAY_US=2000"), &run("DELAY_US=0")));
}
