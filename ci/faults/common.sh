# shellcheck shell=bash
# Variables for the scripts of this folder: agent, analyze, an engine and a model, as in the tests.
# Sourced; changes to the repository's folder.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. scripts/lib.sh
. ci/tests.sh
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
target=${CARGO_TARGET_DIR:-target}/debug
export PROFINFER_AGENT=${PROFINFER_AGENT:-$target/profinfer-agent} PROFINFER_ANALYZE=${PROFINFER_ANALYZE:-$target/analyze}
for program in "$PROFINFER_AGENT" "$PROFINFER_ANALYZE"; do
	[ -x "$program" ] || die "there is no $program" "Build it: cargo build --workspace --bins"
done
if cannot_trace "$(basename "$0")"; then exit 0; fi
PROFINFER_ENGINE_DIR=${PROFINFER_ENGINE_DIR:-$(scripts/engine.sh | tail -n 1)}
export PROFINFER_ENGINE_DIR FAULTS_MODEL=${PROFINFER_MODELS_DIR:-$CACHE/models}/dense-q8.gguf
