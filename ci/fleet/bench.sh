#!/usr/bin/env bash
# bench.sh [N...]      how fast captures are added to a fleet and questions answered, by its size (default 100 300 1000)
#
# The captures are made of the recordings in the tests (make.py): what a fleet keeps of one does not grow with its spans, but with the operators of
# its model. How long `analyze` takes for a recording of a million spans is measured beside it, of a recording that
# PROFINFER_MILLION names. Prints figures and tests nothing.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/fleet/common.sh"
. "$REPO/ci/fleet/cluster.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
[ $# -gt 0 ] || set -- 100 300 1000
fleet_python
if [ -z "${FLEET:-}" ]; then
	say "building analyze and analyze-fleet"
	cargo build -q --locked --profile host -p host-analyzer -p profinfer-fleet
	FLEET=$CARGO_TARGET_DIR/host/analyze-fleet ANALYZE=$CARGO_TARGET_DIR/host/analyze
fi
dir=$(mktemp -d)
trap 'cluster_down; rm -rf "$dir"' EXIT
cluster_up "$dir"
for n; do
	say "$n captures"
	mkdir "$dir/$n"
	fleet_of "$dir/$n" 0
	rm -rf "$dir/$n/fleet"
	python3 "$REPO/ci/fleet/make.py" "$dir/$n/made" "$n" "$dir/$n"/real/[012]/summary.json
	python3 "$REPO/ci/fleet/bench.py" "$FLEET" "$dir/$n"
	"$PYTHON" "$REPO/ci/fleet/spark.py" "$FLEET" "$dir/$n/fleet" "$MASTER" --times 2>"$dir/spark.log" || tail -n 5 "$dir/spark.log" >&2
	rm -rf "${dir:?}/$n"
done
if [ -n "${PROFINFER_MILLION:-}" ]; then
	say "adding one recording of a million spans"
	time "$FLEET" add "$PROFINFER_MILLION" --analyze "$ANALYZE" --to "$dir/million"
fi
