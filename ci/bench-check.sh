#!/usr/bin/env bash
# bench-check.sh [--rounds N] [--seconds S]      are the ceilings of `profinfer-agent bench` right?
#
# Measures the same on the same CPUs with other tools: sysbench (read), mbw (copy), and loops that
# gcc -O3 compiles for this machine (ci/bench-check/arithmetic.c: read, copy, int8, f32). Compares
# reading at three points of the curve, with one thread and with one per CPU: the smallest, the
# largest within half of the last cache (4 MiB if the kernel reports none), and the largest. All
# tools take turns, N rounds (default 5) of about S seconds each (default 1), so that a busy moment
# affects them alike. Prints the medians, and the median of the ratios per round, to the fastest of
# the other tools: a ceiling below what others reach is wrong. Warns beyond 10 % and fails beyond 30
# %, because machines are busy. Run by hand.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
rounds=5 seconds=1
while [ $# -gt 0 ]; do
	case $1 in
	--rounds) rounds=$2; shift 2 ;;
	--seconds) seconds=$2; shift 2 ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
cd "$REPO"
need_pkgs sysbench mbw gcc libc6-dev util-linux python3
agent=${PROFINFER_AGENT:-} analyze=${PROFINFER_ANALYZE:-}
if [ -z "$agent" ] || [ -z "$analyze" ]; then
	"$REPO/scripts/setup.sh"
	cargo build -q --locked -p profinfer-agent -p analyze
	agent=$CARGO_TARGET_DIR/debug/profinfer-agent analyze=$CARGO_TARGET_DIR/debug/analyze
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gcc -O3 -march=native -ffp-contract=fast -o "$dir/arithmetic" ci/bench-check/arithmetic.c

allowed=$(taskset -pc $$ | sed 's/.*: //')
first=${allowed%%[,-]*}
cpus=$(nproc)
cache=$(cat /sys/devices/system/cpu/cpu"$first"/cache/index*/size 2>/dev/null |
	awk '{ k = /M$/ ? $1 * 1024 : $1 + 0; if (k > most) most = k } END { print most + 0 }')
[ "$cache" -gt 0 ] || cache=8192
note "last cache of $cache KiB; one thread on CPU $first, $cpus on CPUs $allowed; $rounds rounds"
ms=$(awk "BEGIN { print int($seconds * 1000) }")

# put NAME VALUE: a value of a tool, GB/s or GOP/s
put() { echo "$2" >>"$dir/$1"; }
sysbench_read() { # THREADS CPUS BYTES: of all threads together; sysbench wants a power of two for each
	local block=1
	while [ $((block * 2 * $1)) -le "$3" ]; do block=$((block * 2)); done
	taskset -c "$2" sysbench memory --memory-oper=read --memory-scope=local --memory-block-size="$block" \
		--memory-total-size=100T --threads="$1" --time="${seconds%.*}" run |
		sed -n 's/.*(\([0-9.]*\) MiB\/sec).*/\1/p' | awk '{ print $1 * 1.048576 / 1000 }'
}
mbw_copy() { taskset -c "$first" mbw -q -t0 -n 5 "$1" | awk '/^AVG/ { for (i = 1; i < NF; i++) if ($i == "Copy:") print $(i + 1) * 1.048576 / 1000 }'; }
compiled() { taskset -c "$first" "$dir/arithmetic" "$1" "$ms" "${2:-4096}" | tee "$dir/said" | cut -d' ' -f1; }
compiled_by_all() { # BYTES of all together: a process on each CPU at the same time; their sum
	local cpu
	for cpu in $(seq 0 4095); do
		taskset -c "$cpu" true 2>/dev/null || continue
		taskset -c "$cpu" "$dir/arithmetic" read "$ms" $(($1 / cpus)) >"$dir/all.$cpu" &
		[ "$(jobs -p | wc -l)" -lt "$cpus" ] || break
	done
	wait
	cat "$dir"/all.* | awk '{ sum += $1 } END { print sum }'
	rm -f "$dir"/all.*
}
agent_bench() { # THREADS CPUS: lines `kind working-set value way`, the working sets in order
	"$agent" bench --threads "$1" --cpus "$2" --budget "$(awk "BEGIN { print $seconds * 4 }")" --out "$dir/c.pfi" 2>"$dir/log" >"$dir/table" ||
		die "the agent could not measure" "$(tail -n 3 "$dir/log")"
	"$analyze" --out "$dir/profile" "$dir/c.pfi" >"$dir/log" 2>&1 || die "its ceilings cannot be read" "$(tail -n 3 "$dir/log")"
	python3 - "$dir/profile/summary.json" "$1" <<-'EOF'
		import json, sys
		for c in json.load(open(sys.argv[1]))["ceilings"]:
		    if c["threads"] != int(sys.argv[2]) or c["unit"] == "ns" or c["median"] is None:
		        continue
		    for p in c["points"] or [c]:
		        print(c["kind"], p["working_set_bytes"] or 0, p["median"] / 1e9, c["how"])
	EOF
}
value() { awk -v kind="$1" -v bytes="$2" '$1 == kind && (bytes == "" || $2 == bytes) { print $3; exit }' "$dir/now"; }
# Three points of the curve in $dir/now.
chosen() { awk -v cache="$cache" '$1 == "read" { if (!a) a = $2; if ($2 <= cache * 512) b = $2; c = $2 } END { print a; print b; print c }' "$dir/now" | sort -gu; }
# name BYTES: how a working set is called
size() { if [ "$1" -lt 1048576 ]; then echo "$(($1 / 1024))KiB"; else echo "$(($1 / 1048576))MiB"; fi; }

for round in $(seq "$rounds"); do
	note "round $round of $rounds"
	agent_bench 1 "$first" >"$dir/now"
	for bytes in $(chosen); do
		name=read1.$(size "$bytes")
		echo "$name" >>"$dir/names"
		put "$name.ours" "$(value read "$bytes")"
		put "$name.gcc" "$(compiled read "$bytes")"
	done
	put "$name.sysbench" "$(sysbench_read 1 "$first" "$bytes")"
	put copy1.ours "$(value copy "")"
	put copy1.mbw "$(mbw_copy $((bytes >> 20)))"
	put copy1.gcc "$(compiled copy "$bytes")"
	put int8.gcc "$(compiled int8)"
	# The loop with the instructions that gcc used.
	way=$(cut -d' ' -f2 "$dir/said")
	put int8.ours "$(awk -v way="$way" '$1 == "int8" && $4 == way { print $3 }' "$dir/now")"
	put f32.gcc "$(compiled f32)"
	put f32.ours "$(value f32 "")"
	if [ "$cpus" -gt 1 ]; then
		agent_bench "$cpus" "$allowed" >"$dir/now"
		for bytes in $(chosen); do
			name=readn.$(size "$bytes")
			echo "$name" >>"$dir/names"
			put "$name.ours" "$(value read "$bytes")"
			put "$name.gcc" "$(compiled_by_all "$bytes")"
		done
		put "$name.sysbench" "$(sysbench_read "$cpus" "$allowed" "$bytes")"
	fi
done

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
status=0
printf '%-22s %10s  %-22s %8s\n' "ceiling" "agent" "fastest other tool" "ratio"
for name in $(sort -V "$dir/names" | uniq) copy1 int8 f32; do
	[ -s "$dir/$name.ours" ] || continue
	ours=$(median <"$dir/$name.ours") other=0 by=
	for file in "$dir/$name".*; do
		tool=${file##*.}
		[ "$tool" != ours ] || continue
		value=$(median <"$file")
		if awk "BEGIN { exit !($value > $other) }"; then other=$value by=$tool; fi
	done
	if [ -z "$ours" ] || [ -z "$by" ]; then die "no figures for $name" "$(cat "$dir/table")"; fi
	ratio=$(paste "$dir/$name.ours" "$dir/$name.$by" | awk '{ print $1 / $2 }' | median)
	printf '%-22s %10.2f  %10.2f %-11s %8.3f\n' "$name" "$ours" "$other" "$by" "$ratio"
	case $(awk "BEGIN { d = $ratio - 1; d = d < 0 ? -d : d; print (d > 0.3 ? 2 : d > 0.1 ? 1 : 0) }") in
	1) note "$name is more than 10 % off: is the machine busy?" ;;
	2) note "$name is more than 30 % off" && status=1 ;;
	esac
done
[ "$status" = 0 ] || die "the agent's ceilings differ from those of other tools by more than 30 %" "Run it again on a quiet machine."
