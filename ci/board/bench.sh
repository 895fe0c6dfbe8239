#!/usr/bin/env bash
# bench.sh [--keep DIR]      ceilings with the instructions that the processor has, on emulated boards: of a Cortex-A76, and of one with all that QEMU knows
#
# host-analyzer/analyze/tests/oracle/board_bench.rs judges the recordings. Takes two minutes. Run by hand.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
board_args "$@"
[ ${#only[@]} = 0 ] || die "unknown argument '${only[0]}'" "See $0 --help"
begin
tests_build

for cpu in cortex-a76 max; do
	boot --kernel 6.12 --cpu "$cpu" || die "the board does not boot"
	start=$SECONDS
	$board run "profinfer-agent bench --format json --out /tmp/ceilings.pfi" >"$dir/bench-$cpu.json" 2>"$dir/bench-$cpu.log" </dev/null ||
		die "bench failed" "$(tail -n 3 "$dir/bench-$cpu.log")"
	note "$cpu: $(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["ceilings"]))' "$dir/bench-$cpu.json") ceilings in $((SECONDS - start)) s"
	$board get /tmp/ceilings.pfi "$dir/bench-$cpu.pfi"
	# What the engine prints goes to standard error: the summary is alone on the other.
	$board run "profinfer-agent record --full --format json --out /tmp/t.pfi -- nodes -m /model.gguf -t 2 -p 8 -n 32 2>/tmp/agent.log" >"$dir/session.json" 2>"$dir/board.log" </dev/null ||
		die "the recording failed" "$(tail -n 3 "$dir/board.log")"
	note "$(python3 "$REPO/ci/agent_json.py" recorded "$dir/session.json")"
	$board get /tmp/t.pfi "$dir/bench-$cpu-session.pfi"
	switch_off
	"$ANALYZE" --ceilings "$dir/bench-$cpu.pfi" "$dir/bench-$cpu-session.pfi" -o "$dir/bench-$cpu" >"$dir/analyze.log" 2>&1 ||
		die "analyze does not take the ceilings of $cpu" "$(tail -n 3 "$dir/analyze.log")"
done
export PROFINFER_BOARD_BENCH=$dir
tests_of oracle --ignored --nocapture --test-threads 1 board_bench::
note "in $SECONDS s"
