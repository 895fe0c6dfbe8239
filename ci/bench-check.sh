#!/usr/bin/env bash
# bench-check.sh [--rounds N] [--seconds S]      are the ceilings of `profinfer-agent bench` right?
#
# Measures the same on the same CPUs with tools of others: sysbench (read), mbw (copy), and loops that gcc -O3 makes for this
# machine (ci/bench-check/arithmetic.c: read, copy, int8, f32). All take turns, N rounds (default 5) of about S seconds each (default 1), so
# that a busy moment hits them alike. Prints the medians and their ratio, to the fastest of the other tools where there are several:
# a ceiling below what others reach is none. Warns beyond 10 % and fails beyond 30 %, because machines are busy. Called by hand.
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
need_pkgs sysbench mbw gcc libc6-dev util-linux
agent=${PROFINFER_AGENT:-}
if [ -z "$agent" ]; then
	"$REPO/scripts/setup.sh"
	cargo build -q --locked -p profinfer-agent
	agent=$CARGO_TARGET_DIR/debug/profinfer-agent
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gcc -O3 -march=native -ffp-contract=fast -o "$dir/arithmetic" ci/bench-check/arithmetic.c

allowed=$(taskset -pc $$ | sed 's/.*: //')
first=${allowed%%[,-]*}
cpus=$(nproc)
# Four times the last cache, as a power of two, which sysbench wants.
cache=$(cat /sys/devices/system/cpu/cpu"$first"/cache/index*/size 2>/dev/null |
	awk '{ k = /M$/ ? $1 * 1024 : $1 + 0; if (k > most) most = k } END { print most + 0 }')
[ "$cache" -gt 0 ] || cache=8192
mib=64
while [ "$mib" -lt $((cache * 4 / 1024)) ]; do mib=$((mib * 2)); done
note "memory of $mib MiB a thread; one thread on CPU $first, $cpus on CPUs $allowed; $rounds rounds"
ms=$(awk "BEGIN { print int($seconds * 1000) }")

# put NAME VALUE: a value of a tool, GB/s or GOP/s
put() { echo "$2" >>"$dir/$1"; }
sysbench_read() { # THREADS CPUS
	taskset -c "$2" sysbench memory --memory-oper=read --memory-scope=local --memory-block-size="${mib}M" \
		--memory-total-size=100T --threads="$1" --time="${seconds%.*}" run |
		sed -n 's/.*(\([0-9.]*\) MiB\/sec).*/\1/p' | awk '{ print $1 * 1.048576 / 1000 }'
}
mbw_copy() { taskset -c "$first" mbw -q -t0 -n 5 "$mib" | awk '/^AVG/ { for (i = 1; i < NF; i++) if ($i == "Copy:") print $(i + 1) * 1.048576 / 1000 }'; }
compiled() { taskset -c "$first" "$dir/arithmetic" "$1" "$ms" $((mib << 20)) | tee "$dir/said" | cut -d' ' -f1; }
agent_bench() { # THREADS CPUS: lines `kind value way`
	"$agent" bench --threads "$1" --cpus "$2" --budget "$(awk "BEGIN { print $seconds * 4 }")" 2>"$dir/log" >"$dir/table" ||
		die "the agent could not measure" "$(tail -n 3 "$dir/log")"
	awk '$5 == "GB/s" || $5 == "GOP/s" { print $1, $4, $11 }' "$dir/table"
}

for round in $(seq "$rounds"); do
	note "round $round of $rounds"
	agent_bench 1 "$first" >"$dir/now"
	put read1.ours "$(awk '$1 == "read" { print $2 }' "$dir/now")"
	put copy1.ours "$(awk '$1 == "copy" { print $2 }' "$dir/now")"
	put read1.sysbench "$(sysbench_read 1 "$first")"
	put read1.gcc "$(compiled read)"
	put copy1.mbw "$(mbw_copy)"
	put copy1.gcc "$(compiled copy)"
	put int8.gcc "$(compiled int8)"
	# The loop with the instructions that gcc used.
	way=$(cut -d' ' -f2 "$dir/said")
	put int8.ours "$(awk -v way="$way" '$1 == "int8" && $3 == way { print $2 }' "$dir/now")"
	put f32.gcc "$(compiled f32)"
	put f32.ours "$(awk '$1 == "f32" { print $2; exit }' "$dir/now")"
	if [ "$cpus" -gt 1 ]; then
		agent_bench "$cpus" "$allowed" >"$dir/now"
		put readn.ours "$(awk '$1 == "read" { print $2 }' "$dir/now")"
		put readn.sysbench "$(sysbench_read "$cpus" "$allowed")"
	fi
done

median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
status=0
printf '%-22s %10s  %-22s %8s\n' "ceiling" "agent" "fastest other tool" "ratio"
for name in read1 readn copy1 int8 f32; do
	[ -s "$dir/$name.ours" ] || continue
	ours=$(median "$dir/$name.ours") other=0 by=
	for file in "$dir/$name".*; do
		tool=${file##*.}
		[ "$tool" != ours ] || continue
		value=$(median "$file")
		if awk "BEGIN { exit !($value > $other) }"; then other=$value by=$tool; fi
	done
	if [ -z "$ours" ] || [ -z "$by" ]; then die "no figures for $name" "$(cat "$dir/table")"; fi
	ratio=$(awk "BEGIN { printf \"%.3f\", $ours / $other }")
	printf '%-22s %10.2f  %10.2f %-11s %8s\n' "$name" "$ours" "$other" "$by" "$ratio"
	case $(awk "BEGIN { d = $ratio - 1; d = d < 0 ? -d : d; print (d > 0.3 ? 2 : d > 0.1 ? 1 : 0) }") in
	1) note "$name is more than 10 % off: is the machine busy?" ;;
	2) note "$name is more than 30 % off" && status=1 ;;
	esac
done
[ "$status" = 0 ] || die "the agent's ceilings differ from those of other tools by more than 30 %" "Run it again on a quiet machine."
