#!/usr/bin/env bash
# compat.sh [--record NAME...]      compatibility of published versions with the current one
#
#   (default)         the last version's agent with the present `analyze`, and the present agent with the last version's `analyze`, on a real engine
#                     over a real connection: each must have all that the engine lists (host-analyzer/analyze/tests/oracle/compat.rs)
#   --record NAME...  make the recordings of these versions (ci/compat/published.tsv) anew, for host-analyzer/tests/data/published: what each version's agent
#                     recorded, and what the engine listed meanwhile
#
# Builds versions from their commits, a minute or two each, and keeps them in the cache.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/compat/build.sh"
. "$REPO/ci/engines/builds.sh"

# record NAME: dense with every level, and a mixture of experts
record() {
	local out=$REPO/host-analyzer/tests/data/published/$1 bin model nodes
	bin=$(published_build "$1")
	nodes=$("$REPO/scripts/engine.sh")
	mkdir -p "$out"
	for model in dense-q8 moe-mixtral8; do
		"$bin/profinfer-agent" record --out "$out/$model.pfi" -- "$nodes/nodes" -m "$("$REPO/scripts/model.sh" "$model")" "${RUN[@]}" >"$out/$model.txt"
		note "$out/$model.pfi: $(stat -c %s "$out/$model.pfi") bytes"
	done
}

case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--record)
	shift
	for name; do record "$name"; done
	exit
	;;
'') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
if cannot_trace "ci/compat.sh"; then exit 0; fi
last=$(published | tail -n 1 | cut -f1)
bin=$(published_build "$last")
tests_build
export PROFINFER_PUBLISHED=$bin
PROFINFER_ENGINE_DIR=${PROFINFER_ENGINE_DIR:-$("$REPO/scripts/engine.sh")}
"$REPO/scripts/model.sh" dense-q8 >/dev/null
PROFINFER_MODELS_DIR=${PROFINFER_MODELS_DIR:-$CACHE/models}
export PROFINFER_ENGINE_DIR PROFINFER_MODELS_DIR
tests_of oracle --ignored compat::with_
