#!/usr/bin/env bash
# spark.sh [N]      a real Spark cluster gives the same answers to the same SQL as `analyze fleet sql`
#
# Makes a fleet of N captures (default 96) from the recordings of the tests, real and varied
# (make.py), starts a master and two workers on loopback, and compares the answers to every prepared
# query and some others cell by cell, floats to 1e-9.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/fleet/common.sh"
. "$REPO/ci/fleet/cluster.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
fleet_programs
fleet_python
dir=$(mktemp -d)
trap 'cluster_down; rm -rf "$dir"' EXIT
fleet_of "$dir" "${1:-96}"
cluster_up "$dir"
"$PYTHON" "$REPO/ci/fleet/spark.py" "$FLEET" "$dir/fleet" "$MASTER" 2>"$dir/spark.log" || {
	grep -v ' WARN \| INFO ' "$dir/spark.log" | tail -n 20 >&2
	die "Spark and \`analyze fleet sql\` do not give the same answers"
}
