#!/usr/bin/env bash
# matrix.sh [--full] [--keep DIR]      the same trace from every kernel of the emulated board
#
#   --full       5.10, 6.1, 6.12 and 7.2, each with and without BTF, two core types and musl
#                (default: 5.10 without BTF and 7.2 with it)
#   --keep DIR   leave what was brought back from the boards there
#
# PROFINFER_STATIC_AGENT names another agent than that of scripts/build-agent.sh (ci/cross/run.sh:
# the one built by `cross`).
#
# On each board, the static agent records a run of llama.cpp, which prints its own list of nodes.
# Then, on this machine: the list equals that of the same release on x86-64 for the same model, the
# trace matches the list, decode calls and tokens agree, nothing was lost, the scheduler level was
# recorded, and `analyze` reads it. host-analyzer/analyze/tests/oracle/board.rs checks the last one.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
board_args "$@"
# The first of these is the board of engines.sh as well.
configurations=("--kernel 5.10 --no-btf" "--kernel 7.2" "--kernel 6.12 --musl")
[ -z "$full" ] || configurations=("--kernel 5.10" "--kernel 5.10 --no-btf" "--kernel 6.1" "--kernel 6.1 --no-btf" "--kernel 6.12"
	"--kernel 6.12 --no-btf" "--kernel 7.2" "--kernel 7.2 --no-btf" "--kernel 6.12 --big-little" "--kernel 6.12 --musl")
RUN=(-t 2 -p 8 -n 4)
RSS_BUDGET=8388608 # bytes

begin
rm -rf "$dir/boards"
[ -n "${PROFINFER_STATIC_AGENT:-}" ] || "$REPO/scripts/build-agent.sh" >/dev/null
model=$("$REPO/scripts/model.sh" dense-q8)
tests_build
say "the list of x86-64"
"$("$REPO/scripts/engine.sh" npm:v0.5.0)/nodes" -m "$model" "${RUN[@]}" --list >"$dir/x86-64.txt"
# What must not depend on the machine: every node, and the tokens that went in. (Those that came out may:
# floating point is not summed up in the same order.)
sequence() { sed -n 's/\r$//; /^node/p; s/^\(decode\t[0-9]*\t[0-9]*\t[0-9]*\).*/\1/p' "$1"; }
sequence "$dir/x86-64.txt" >"$dir/x86-64.sequence"

read_json() { python3 "$REPO/ci/agent_json.py" "$@" 2>/dev/null || true; }
rows=() failed=0
# one OPTIONS_OF_UP...: boot a board, and add a row that ends with the errors
one() {
	local out start=$SECONDS wrong=() rss='' list=--list summary='' sched=''
	out=$dir/boards/$(sed 's/--kernel //; s/ --/-/g' <<<"$*")
	case $* in *--musl*) list='' ;; esac # its driver has no header to ask for the list with
	mkdir -p "$out"
	if ! boot "$@"; then
		wrong+=("does not boot")
	else
		$board run "profinfer-agent doctor --format json" >"$out/doctor.json" || wrong+=("the doctor reports that tracing does not work: $(read_json no "$out/doctor.json")")
		# A shell for the list: what the engine prints would go to standard error, for the summary is alone on the other.
		$board run "profinfer-agent record --full --format json --out /tmp/t.pfi -- sh -c 'exec nodes -m /model.gguf ${RUN[*]} $list >/tmp/nodes.txt'" \
			>"$out/summary.json" 2>"$out/agent.log" || wrong+=("the agent's exit status is $?: $(tail -n 1 "$out/agent.log")")
		$board get /tmp/nodes.txt "$out/nodes.txt" && $board get /tmp/t.pfi "$out/trace.pfi" || wrong+=("nothing to bring back")
		summary=$(read_json recorded "$out/summary.json")
		rss=$(read_json field "$out/summary.json" rss_bytes)
		[ -n "$rss" ] || wrong+=("the agent does not say how much memory it takes")
		[ "${rss:-0}" -le "$RSS_BUDGET" ] || wrong+=("$rss bytes are over the budget of 8 MiB")
		if [ -n "$list" ]; then
			sequence "$out/nodes.txt" | cmp -s - "$dir/x86-64.sequence" || wrong+=("its list of nodes is not x86-64's")
		else
			sequence "$out/nodes.txt" | cmp -s - <(grep ^decode "$dir/x86-64.sequence") || wrong+=("its calls are not x86-64's")
		fi
		"$ANALYZE" "$out/trace.pfi" -o "$out/profile" >"$out/analyze.log" 2>&1 ||
			wrong+=("analyze's exit status is $?: $(tail -n 1 "$out/analyze.log")")
		sched=$(python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["sched"]
print(len(s["threads"]) if s["recorded"] else 0, "threads,", sum(t["runs"] for t in s["threads"]), "runs,", len(s["interrupts"]), "kinds of interrupts")' \
			"$out/profile/summary.json" 2>/dev/null) || sched="no summary"
		case $sched in 0\ * | "no summary") wrong+=("nothing of the scheduler level: $(read_json row "$out/doctor.json" "scheduler level")") ;; esac
	fi
	if [ "$*" = "${kernel[*]}" ]; then leave; else switch_off; fi || wrong+=("does not switch off")
	[ ${#wrong[@]} = 0 ] || failed=$((failed + 1))
	rows+=("$(printf '%-18s %3d s  %s' "${out##*/}" $((SECONDS - start)) "${summary:-nothing recorded}${sched:+; scheduler: $sched}")")
	[ ${#wrong[@]} = 0 ] || rows+=("$(printf '    FAILED: %s\n' "${wrong[@]}")")
	note "${rows[-1]}"
}
for c in "${configurations[@]}"; do
	say "board: $c"
	# shellcheck disable=SC2086  # several options
	one $c
done

say "traces and the engines' own lists"
PROFINFER_BOARD_DIR=$dir/boards tests_of oracle --ignored board:: >"$dir/oracle.log" 2>&1 ||
	{ cat "$dir/oracle.log" >&2; failed=$((failed + 1)); rows+=("FAILED: the traces do not say what the engines' lists say"); }

printf '%s\n' "${rows[@]}" "kernel matrix: ${#configurations[@]} boards in $SECONDS s, $failed failed"
[ "$failed" = 0 ]
