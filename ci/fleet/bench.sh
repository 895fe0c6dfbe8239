#!/usr/bin/env bash
# bench.sh [N...]      speed of adding captures to a fleet and of queries, by its size (default 100 300 1000)
#
# First records three models, with a million operator spans each, and adds them as a user does.
# make.py derives the other captures from the summaries of these, so each one stands for a million
# spans. Prints figures and tests nothing.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/fleet/common.sh"
. "$REPO/ci/fleet/cluster.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
[ $# -gt 0 ] || set -- 100 300 1000
cd "$REPO"
! cannot_trace "fleets of recordings of a million spans" || exit 0
fleet_python
if [ -z "${FLEET:-}" ]; then
	say "building analyze and analyze-fleet"
	cargo build -q --locked --profile host -p analyze
	cargo build -q --locked --profile host --manifest-path fleet/Cargo.toml
	FLEET=$CARGO_TARGET_DIR/host/analyze-fleet ANALYZE=$CARGO_TARGET_DIR/host/analyze
fi
dir=$(mktemp -d)
trap 'cluster_down; rm -rf "$dir"' EXIT

# million MODEL TOKENS RUNS: record RUNS runs of TOKENS tokens
million() {
	"$agent" record --full --bench --format json --out "$dir/recorded/$1.pfi" -- "$engine/nodes" -m "$CACHE/models/$1.gguf" -t 2 -p 16 -n "$2" -r "$3" --fresh >"$dir/summary.json" 2>"$dir/said" ||
		die "recording $1 failed" "$(tail -n 3 "$dir/said")"
	note "$1: $(python3 ci/agent_json.py recorded "$dir/summary.json")"
}
say "recording"
mkdir "$dir/recorded"
engine=$(scripts/engine.sh) agent=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent}
scripts/model.sh smollm2 moe-qwen60 gemma2-q8 >/dev/null
[ -x "$agent" ] || tests_build
million smollm2 520 2
million moe-qwen60 500 5
million gemma2-q8 500 12
say "adding them"
for recording in "$dir"/recorded/*.pfi; do
	name=$(basename "$recording" .pfi) begun=$EPOCHREALTIME
	"$FLEET" add "$recording" --analyze "$ANALYZE" --to "$dir/alone" >/dev/null
	note "$name: $(python3 -c "print(f'{$EPOCHREALTIME - $begun:.2f} s')")"
	"$ANALYZE" --only summary.json --out "$dir/real/$name" "$recording" >/dev/null
done
cluster_up "$dir"
for n; do
	say "$n captures"
	mkdir "$dir/$n"
	python3 ci/fleet/make.py "$dir/$n/made" "$n" "$dir"/real/*/summary.json
	python3 ci/fleet/bench.py "$FLEET" "$dir/$n"
	"$PYTHON" ci/fleet/spark.py "$FLEET" "$dir/$n/fleet" "$MASTER" --times 2>"$dir/spark.log" || tail -n 5 "$dir/spark.log" >&2
	rm -rf "${dir:?}/$n"
done
