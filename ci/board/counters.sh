#!/usr/bin/env bash
# counters.sh [--kernel N]      hardware counters on the emulated board, whose PMU counts a model of the caches
#
# A model whose weights do not fit the caches is run with one thread and with two; what was recorded is compared with
# what the matrix products must fetch by host-analyzer/tests/oracle/board_counters.rs. Linux 5.10 without BTF by default. On a
# second board a thread is sent from cores of one type to those of another: it never counts more than its time allows.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
kernel=(--kernel 5.10 --no-btf)
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=(--kernel "${2:?--kernel needs a version}"); shift 2 ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
board="$REPO/scripts/board.sh --board counters-$$"
dir=$(mktemp -d)
cleanup() {
	$board down >/dev/null 2>&1 || true
	rm -rf "$CACHE/board/run/counters-$$" "$dir"
}
trap cleanup EXIT

say "a board that counts: ${kernel[*]}"
$board up "${kernel[@]}" --plugin --model spec-target 2>"$dir/up.log" || { cat "$dir/up.log" >&2; die "the board does not boot"; }
for threads in 1 2; do
	# BR_MIS_PRED: this PMU opens it without an error and counts 0, so it must be refused.
	$board run "profinfer-agent record --counters CPU_CYCLES,INST_RETIRED,L3D_CACHE_REFILL,STALL_BACKEND,BR_MIS_PRED,minor-faults \
		--out /tmp/t.pfi -- nodes -m /model.gguf -t $threads -p 4 -n 2 >/tmp/nodes.txt" 2>"$dir/agent.log" ||
		die "the agent failed on the board" "$(tail -n 3 "$dir/agent.log")"
	note "$(tail -n 1 "$dir/agent.log")"
	$board get /tmp/t.pfi "$dir/threads-$threads.pfi"
done
say "two agents who want more counters than there are"
$board run "for i in 1 2; do
	profinfer-agent record --counters CPU_CYCLES,INST_RETIRED,MEM_ACCESS,L3D_CACHE_REFILL,STALL_BACKEND --out /tmp/t\$i.pfi -- \
		nodes -m /model.gguf -t 1 -p 4 -n 4 >/dev/null & done; wait" 2>"$dir/agent.log" || die "the agents failed on the board" "$(tail -n 3 "$dir/agent.log")"
for i in 1 2; do $board get "/tmp/t$i.pfi" "$dir/shared-$i.pfi"; done
$board down 2>/dev/null

say "a board of two core types, and a thread that is sent from one to the other"
$board up --kernel 6.12 --big-little 2>"$dir/up.log" || { cat "$dir/up.log" >&2; die "the board does not boot"; }
$board run "(while sleep 0.03; do for m in 1 4 2 8; do pid=\$(pidof nodes) && taskset -ap \$m \$pid; sleep 0.03; done; done) >/dev/null 2>&1 &
	profinfer-agent record --counters CPU_CYCLES --out /tmp/t.pfi -- nodes -m /model.gguf -t 1 -p 8 -n 60 >/tmp/nodes.txt
	status=\$?; kill %1; exit \$status" 2>"$dir/agent.log" || die "the agent failed on the board" "$(tail -n 3 "$dir/agent.log")"
note "$(tail -n 1 "$dir/agent.log")"
$board get /tmp/t.pfi "$dir/bounced.pfi"
say "a CPU that is switched off and on while its counters count"
$board run "(sleep 2; echo 0 >/sys/devices/system/cpu/cpu1/online; sleep 1; echo 1 >/sys/devices/system/cpu/cpu1/online) &
	profinfer-agent record --counters CPU_CYCLES --out /tmp/t.pfi -- nodes -m /model.gguf -t 2 -p 8 -n 100 >/tmp/nodes.txt" \
	2>"$dir/agent.log" || die "the agent failed on the board" "$(tail -n 3 "$dir/agent.log")"
note "$(tail -n 1 "$dir/agent.log")"
$board get /tmp/t.pfi "$dir/offline.pfi"
cd "$REPO"
PROFINFER_BOARD_COUNTERS=$dir cargo test -q --locked -p host-analyzer --test oracle board_counters -- --nocapture
