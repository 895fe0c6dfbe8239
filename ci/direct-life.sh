#!/usr/bin/env bash
# direct-life.sh [CASE...]      events in the life of an engine with direct probes: fork, exec, unloading, threads, freezing, signals, other agents
#
# Cases: fork exec unload threads stopped frozen signals uprobe_first two_agents serve; see
# ci/kills/life/life.py. Each checks that the engine is alive, that its tokens equal those of an
# undisturbed run, and that its code equals its files afterwards. Needs root, BPF and `analyze`. Run
# by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
target=${CARGO_TARGET_DIR:-target}/debug
export PROFINFER_AGENT=${PROFINFER_AGENT:-$target/profinfer-agent}
export PROFINFER_ANALYZE=${PROFINFER_ANALYZE:-$target/analyze}
export PROFINFER_DIRECT_ALONE=${PROFINFER_DIRECT_ALONE:-$target/profinfer-direct-alone}
export PROFINFER_ENGINE_DIR=${PROFINFER_ENGINE_DIR:-$(scripts/engine.sh | tail -n 1)}
export LIFE_MODEL=${PROFINFER_MODELS_DIR:-$CACHE/models}/dense-q8.gguf
LIFE_TOOLS=$(mktemp -d)
export LIFE_TOOLS
trap 'rm -rf "$LIFE_TOOLS"' EXIT
cc -O2 -Wall -Wextra -shared -fPIC -o "$LIFE_TOOLS/preload.so" ci/kills/life/preload.c
cc -O2 -Wall -Wextra -o "$LIFE_TOOLS/unload" ci/kills/life/unload.c -ldl
python3 -B ci/kills/life/life.py "$@"
