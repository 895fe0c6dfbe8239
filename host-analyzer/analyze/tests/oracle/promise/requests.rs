//! A conversation that a server reads from its beginning with every request.

use profinfer_trace::model::Model;

use super::kept_by;
use crate::serve::Server;
use crate::support::{Parts, model, parts, tool};

/// Four requests, each with the previous one and some more.
fn converse(parts: &Parts, program: &std::path::Path, cache: bool) -> Model {
    let options = ["-m", &model(parts, "smollm2"), "-np", "1", "-t", "2", "-c", "2048"];
    let server = Server::start(parts, program, &options);
    for turn in 1..=4 {
        let prompt: Vec<u32> = (0..turn * 120).map(|i| 100 + i * 7 % 900).collect();
        server.address.complete(&prompt, 12, cache);
    }
    server.stop()
}

#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_prefix_that_is_read_again() {
    let Some(parts) = parts() else { return };
    let Some(server) = tool("llama-server") else { return };
    kept_by("prefix", &|| converse(&parts, &server, false), &|| converse(&parts, &server, true));
}
