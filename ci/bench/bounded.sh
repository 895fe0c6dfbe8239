#!/usr/bin/env bash
# bounded.sh [SPANS [MB...]]      a recording whose tables are larger than the memory
#
# Runs `analyze` on the same synthetic recording (default: 30 million spans) without a limit and
# under memory limits of the kernel (default: 512 and 256 MB), where large tables are in files.
# Prints the time, the peak memory that the kernel counted, and whether all files are equal. Needs
# root and memory control groups.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
spans=${1:-30000000}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- 512 256
cargo build -q --locked --profile host -p analyze --bin analyze --example bench_all
bin=$CARGO_TARGET_DIR/host
# Not where temporary files may lie in memory.
dir=$(mktemp -d -p "$CACHE")
if [ -d /sys/fs/cgroup/memory ]; then
	group=/sys/fs/cgroup/memory/profinfer-bounded limit=memory.limit_in_bytes most=memory.max_usage_in_bytes
else
	group=/sys/fs/cgroup/profinfer-bounded limit=memory.max most=memory.peak
fi
trap 'rm -rf "$dir"; rmdir "$group" 2>/dev/null || true' EXIT
"$bin/examples/bench_all" "$spans" "$dir/made.pfi"
say "$spans spans, $(($(stat -c %s "$dir/made.pfi") / 1000000)) MB"
printf 'limit, MB\tseconds\tat most, MB\tfiles\n'

# run NAME LIMIT: analyze, and the line of the table
run() {
	local begun=$EPOCHREALTIME status=0
	mkdir "$group"
	[ "$2" = none ] || echo $(($2 << 20)) >"$group/$limit"
	(echo "$BASHPID" >"$group/cgroup.procs" && exec "$bin/analyze" "$dir/made.pfi" --out "$dir/$1" --scratch "$dir") >"$dir/said" 2>&1 || status=$?
	[ "$status" = 0 ] || note "it ended with status $status: $(tail -n 1 "$dir/said")"
	printf '%s\t%.1f\t%d\t' "$2" "$(python3 -c "print($EPOCHREALTIME - $begun)")" $(($(cat "$group/$most") >> 20))
	rmdir "$group"
}
run free none
printf '%s\n' "$(find "$dir/free" -type f | wc -l)"
for mb in "$@"; do
	run bound "$mb"
	if diff -rq "$dir/free" "$dir/bound" >"$dir/differ"; then echo same; else cat "$dir/differ"; fi
	rm -rf "$dir/bound"
done
