//! A delay in an operator of another backend: the calling thread sleeps, as it does while a device computes.

use profinfer_analysis::budget::Class;

use super::{holds, only_in, tokens};
use crate::support::{engine, model, parts, record};

/// Much longer than the stand-in of RKNN waits for its second thread, which depends on where the kernel puts that: up
/// to 0.5 ms of a token.
const DELAY_NS: u64 = 6_000_000;

/// One product of four layers sleeps, the same one in every token.
fn delayed(library: &str) {
    let Some(parts) = parts() else { return };
    let (Some(bin), Some(standin)) = (engine("PROFINFER_ENGINE_DIR"), engine("PROFINFER_STANDIN_DIR")) else {
        return;
    };
    let plugin = format!("GGML_BACKEND_PATH={}", standin.parent().unwrap().join(library).display());
    // A type that no CPU repacks, so that other backends can use it.
    let (nodes, gguf) = (bin.join("nodes"), model(&parts, "dense-f32"));
    let run = |sleeper: &str| {
        let delay = format!("STANDIN_SLEEP_US={}", DELAY_NS / 1000);
        let words = ["env", &plugin, &delay, sleeper, nodes.to_str().unwrap(), "-m", &gguf];
        let command = [&words[..], &["-t", "1", "-p", "5", "-n", "40"]].concat();
        tokens(&record(&parts, &[], &command).0)
    };
    holds(|| {
        only_in(Class::OtherBackend, DELAY_NS, &run("STANDIN_SLEEP=Kcur-1"), &run("STANDIN_SLEEP=none"))
    });
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn a_delay_of_opencl() {
    delayed("libggml-opencl.so");
}

#[test]
#[ignore = "ci/engines/backends.sh runs it"]
fn a_delay_of_rknn() {
    delayed("libggml-rknn.so");
}
