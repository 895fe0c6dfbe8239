#!/usr/bin/env bash
# engines.sh [--full] [--keep DIR] [--kernel K] [BUILD...]      real arm64 builds of llama.cpp, traced on the emulated board
#
#   --full       every arm64 build of ci/engines/builds.tsv that has models, with each of them, and write what was found
#                into the rows of docs/engines.md (default: the few that differ most)
#   --keep DIR   leave recordings, lists and logs there
#   --kernel K   another kernel than 5.10 without BTF
#   BUILD        these builds only, for example npm:b4234; with --full their rows are written
#
# Boots one board and runs each build on it under the agent: prefill and decode, on two threads.
# Then the trace must match the engine's own list of that run
# (host-analyzer/analyze/tests/oracle/engines.rs), and the kernel must not have complained about a
# probe. Another process repeats the calls while it is recorded with direct probes, and with uprobes
# (ci/engines/direct.sh; with the MoE model in --full only).
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
. "$REPO/ci/engines/builds.sh"
. "$REPO/ci/engines/arm64.sh"
. "$REPO/ci/engines/page.sh"
board_args "$@"
begin
rm -rf "$dir/builds"
mkdir -p "$dir/builds"

# put_models MODEL...: those that are not on the board yet
put_models() {
	local model
	for model; do
		$board run test -f "/tmp/$model.gguf" || $board put "$("$REPO/scripts/model.sh" "$model")" /tmp
	done
}

# trace BUILD MODELS SPECIAL FILES: run it on the board; the results go to builds/BUILD
trace() {
	local out=$dir/builds/${1//[:\/]/-} files=$4 model said
	mkdir -p "$out"
	echo "$3" >"$out/levels"
	# shellcheck disable=SC2086  # several models
	put_models ${2//,/ }
	tar -C "$files" -cf - . | $board run "rm -rf /tmp/build; mkdir /tmp/build; tar -C /tmp/build -xf -"
	for model in ${2//,/ }; do
		runs=$((runs + 1))
		$board run "dmesg -c >/dev/null; timeout -s INT -k 60 600 profinfer-agent record --full --out /tmp/t.pfi -- /tmp/build/nodes -m /tmp/$model.gguf ${RUN[*]} >/tmp/nodes.txt" \
			2>"$out/$model.log" </dev/null || wrong "$out/$model" "the agent's exit status is $? (it is ended after 600 s): $(tail -n 1 "$out/$model.log")"
		said=$($board run "dmesg | grep -i -m 1 uprobe" </dev/null || true)
		[ -z "$said" ] || wrong "$out/$model" "the kernel says: $said"
		$board get /tmp/nodes.txt "$out/$model.txt"
		case $model in moe-*) $board run "/tmp/build/nodes -m /tmp/$model.gguf ${RUN[*]/--list/--experts}" >"$out/$model.experts" </dev/null ;; esac
		[ -f "$out/$model.row" ] || $board get /tmp/t.pfi "$out/$model.pfi"
		case $full,$model in ,moe-*) ;; *) directly "$out/direct/$model" "/tmp/build/nodes -m /tmp/$model.gguf ${RUN[*]}" ;; esac
	done
}

# directly DIR COMMAND: record with direct probes, then with uprobes in the same process; the results go to DIR
directly() {
	local said file
	mkdir -p "$1"
	$board run test -f /tmp/direct.sh </dev/null || $board put "$REPO/ci/engines/direct.sh" /tmp
	said=$($board run "dmesg -c >/dev/null; sh /tmp/direct.sh profinfer-agent /tmp/direct $2 2>&1; echo \"status \$?\"; dmesg | grep -i -m 1 uprobe" </dev/null || true)
	if [ "$said" = "status 0" ]; then
		for file in direct.pfi uprobe.pfi list.txt; do $board get "/tmp/direct/$file" "$1/$file"; done
		return
	fi
	note "FAILED: $1: $said"
	failed=$((failed + 1))
	rm -rf "$1"
}

# wrong FILE WHY: add an error row
wrong() {
	printf '%s\t' - - - - - - - >"$1.row"
	echo "$2" >>"$1.row"
	note "FAILED: $1: $2"
	failed=$((failed + 1))
}

# one MACHINE BUILD DATE MODELS SPECIAL OPERATORS
one() {
	local build=$2 models=$4 special=$5 files
	if [ "$1" != arm64 ] || [ -z "$models" ]; then return; fi
	say "$build"
	n=$((n + 1))
	files=$(arm64_files "$build") || { failed=$((failed + 1)); note "FAILED: $build cannot be had"; return; }
	trace "$build" "$models" "$special" "$files"
}

"$REPO/scripts/build-agent.sh" >/dev/null
n=0 runs=0 failed=0
say "one board for all of them: ${kernel[*]}"
boot "${kernel[@]}" || die "the board does not boot"
builds one
[ "$n" -gt 0 ] || die "no such build for arm64: ${only[*]}" "Those for arm64 with models in ci/engines/builds.tsv run here."
switch_off

say "traces and the engines' own lists"
PROFINFER_ENGINES_DIR=$dir/builds tests_of oracle --ignored engines::traces_of engines_direct::probes_of >"$dir/oracle.log" 2>&1 || {
	grep -q '^test result' "$dir/oracle.log" || cat "$dir/oracle.log" >&2
	failed=$((failed + 1))
}
board_rows | awk -F'\t' '{ printf "%-20s %-10s nodes %9s  names %9s  experts %9s  tokens %8s  threads %s  spans %5s  lost %s  direct %s  %s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 }'
if [ -n "$full" ]; then fill_page "$REPO/docs/engines.md"; fi
echo "arm64 engines: $n builds, $runs runs in $SECONDS s, $failed failed"
[ "$failed" = 0 ]
