#!/usr/bin/env bash
# counters.sh [--kernel N]      hardware counters on the emulated board, whose PMU counts a model of the caches
#
# Runs a model whose weights do not fit the caches with one thread and with two.
# host-analyzer/analyze/tests/oracle/board_counters.rs compares the recording with what the matrix
# products must fetch. Linux 5.10 without BTF by default. On a second board, a thread moves between
# cores of two types: it never counts more than its time allows.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
board_args "$@"
begin

say "a board that counts: ${kernel[*]}"
boot "${kernel[@]}" --plugin --model spec-target || die "the board does not boot"
for threads in 1 2; do
	# BR_MIS_PRED: this PMU opens it without an error and counts 0, so it must be refused.
	$board run "profinfer-agent record --full --counters CPU_CYCLES,INST_RETIRED,L3D_CACHE_REFILL,STALL_BACKEND,BR_MIS_PRED,minor-faults \
		--out /tmp/t.pfi -- nodes -m /model.gguf -t $threads -p 4 -n 2 >/tmp/nodes.txt" 2>"$dir/agent.log" ||
		die "the agent failed on the board" "$(tail -n 3 "$dir/agent.log")"
	note "$(tail -n 1 "$dir/agent.log")"
	$board get /tmp/t.pfi "$dir/threads-$threads.pfi"
done
say "two agents who want more counters than there are"
$board run "for i in 1 2; do
	profinfer-agent record --full --counters CPU_CYCLES,INST_RETIRED,MEM_ACCESS,L3D_CACHE_REFILL,STALL_BACKEND --out /tmp/t\$i.pfi -- \
		nodes -m /model.gguf -t 1 -p 4 -n 4 >/dev/null & done; wait" 2>"$dir/agent.log" || die "the agents failed on the board" "$(tail -n 3 "$dir/agent.log")"
for i in 1 2; do $board get "/tmp/t$i.pfi" "$dir/shared-$i.pfi"; done
switch_off

say "a board of two core types, and a thread that is sent from one to the other"
boot --kernel 6.12 --big-little || die "the board does not boot"
$board run "(while sleep 0.03; do for m in 1 4 2 8; do pid=\$(pidof nodes) && taskset -ap \$m \$pid; sleep 0.03; done; done) >/dev/null 2>&1 &
	profinfer-agent record --full --counters CPU_CYCLES --out /tmp/t.pfi -- nodes -m /model.gguf -t 1 -p 8 -n 60 >/tmp/nodes.txt
	status=\$?; kill %1; exit \$status" 2>"$dir/agent.log" || die "the agent failed on the board" "$(tail -n 3 "$dir/agent.log")"
note "$(tail -n 1 "$dir/agent.log")"
$board get /tmp/t.pfi "$dir/bounced.pfi"
say "a CPU that is switched off and on while its counters count"
$board run "(sleep 2; echo 0 >/sys/devices/system/cpu/cpu1/online; sleep 1; echo 1 >/sys/devices/system/cpu/cpu1/online) &
	profinfer-agent record --full --counters CPU_CYCLES --out /tmp/t.pfi -- nodes -m /model.gguf -t 2 -p 8 -n 100 >/tmp/nodes.txt" \
	2>"$dir/agent.log" || die "the agent failed on the board" "$(tail -n 3 "$dir/agent.log")"
note "$(tail -n 1 "$dir/agent.log")"
$board get /tmp/t.pfi "$dir/offline.pfi"
switch_off
PROFINFER_BOARD_COUNTERS=$dir tests_of oracle --ignored --nocapture board_counters
