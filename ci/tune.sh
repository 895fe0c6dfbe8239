#!/usr/bin/env bash
# tune.sh [--rounds N] [--keep DIR] [MODEL…]      the number of threads that `analyze tune` names is within 3 % of the best of a full sweep, here
#
# For each model (default: smollm2 dense-q8): records once with ceilings, and estimates the other
# settings from that. `analyze tune --run` then measures all thread counts up to twice the CPUs,
# unbound and bound to each CPU and to all. The same settings run again without the agent, and the
# engine's own clock judges the recommended setting. Prints a table with the error of each estimate.
# Needs a quiet machine, about four minutes per model. Run by hand.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/tune/proof.sh"
rounds=4 keep='' models=()
while [ $# -gt 0 ]; do
	case $1 in
	--rounds) rounds=${2:?--rounds needs a number} && shift ;;
	--keep) keep=${2:?--keep needs a folder} && shift ;;
	-h | --help) usage_from_head "$0"; exit ;;
	-*) die "unknown argument '$1'" "See $0 --help" ;;
	*) models+=("$1") ;;
	esac
	shift
done
[ ${#models[@]} -gt 0 ] || models=(smollm2 dense-q8)
cd "$REPO"
! cannot_trace "tuning" || exit 0
engine=$(scripts/engine.sh)
agent=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent} analyze=${PROFINFER_ANALYZE:-$CARGO_TARGET_DIR/debug/analyze}
if ! [ -x "$agent" ] || ! [ -x "$analyze" ]; then tests_build; fi
dir=${keep:-$(mktemp -d)}
[ -n "$keep" ] || trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"
there() { sh -c "$1" </dev/null; }

cpus=$(nproc)
sets="all 0-$((cpus - 1))"
for cpu in $(seq 0 $((cpus - 1))); do sets="$sets $cpu"; done
status=0
for model in "${models[@]}"; do
	command="$engine/nodes -m $(scripts/model.sh "$model") -t {threads} -p 8 -n 40 -c 128"
	say "$model"
	"$agent" record --full --bench --out "$dir/$model.pfi" -- sh -c "exec taskset $(mask_of "0-$((cpus - 1))") ${command//'{threads}'/$cpus}" >"$dir/$model.log" 2>&1 ||
		die "the recording failed" "$(tail -n 3 "$dir/$model.log")"
	"$analyze" tune "$dir/$model.pfi" --out "$dir/$model-estimated"
	"$analyze" tune --run --threads "$(seq -s , $((cpus * 2)))" --cpus "$sets" --rounds "$rounds" --agent "$agent" --out "$dir/$model" -- "$command"
	sweep "$dir/$model-sweep" "$dir/$model" "$command"
	python3 ci/tune/judge.py "$dir/$model/tune.json" "$dir/$model-estimated/tune.json" "$dir/$model-sweep" || status=1
done
note "in $SECONDS s"
exit $status
