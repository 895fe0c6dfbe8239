#!/usr/bin/env bash
# engines.sh [--full] [--keep DIR] [--kernel K] [BUILD...]      real arm64 builds of llama.cpp, traced on the emulated board
#
#   --full       every arm64 build of ci/engines/builds.tsv that has models, with each of them, and write what was found
#                into the rows of docs/engines.md (default: the few that differ most)
#   --keep DIR   leave recordings, lists and logs there
#   --kernel K   another kernel than 5.10 without BTF
#   BUILD        these builds only, for example npm:b4234; with --full their rows are written
#
# One board is booted; on it each build runs under the agent, one after the other: prefill and decode, on two threads. Then the
# trace must say what the engine's own list of that run says (host-analyzer/tests/oracle/engines.rs), and the kernel must not
# have complained of a probe.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/engines/arm64.sh"
. "$REPO/ci/engines/page.sh"
full='' keep='' only=() kernel=(--kernel 5.10 --no-btf)
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage_from_head "$0"; exit ;;
	--full) full=1; shift ;;
	--keep) keep=${2:?--keep needs a folder}; shift 2 ;;
	--kernel) kernel=(--kernel "${2:?--kernel needs a version}"); shift 2 ;;
	-*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	*) only+=("$1"); shift ;;
	esac
done
RUN=(-t 2 -p 5 -n 3 -c 512 --list)

board="$REPO/scripts/board.sh --board engines-$$"
dir=${keep:-$(mktemp -d)}
rm -rf "$dir/builds"
mkdir -p "$dir/builds"
cleanup() {
	$board down >/dev/null 2>&1 || true
	rm -rf "$CACHE/board/run/engines-$$"
	[ -n "$keep" ] || rm -rf "$dir"
}
trap cleanup EXIT

# wanted BUILD SPECIAL
wanted() {
	if [ ${#only[@]} -gt 0 ]; then
		[[ " ${only[*]} " == *" $1 "* ]]
	else
		[ -n "$full" ] || [[ ,$2, == *,short,* ]]
	fi
}

# put_models MODEL...: those that are not on the board yet
put_models() {
	local model
	for model; do
		$board run test -f "/tmp/$model.gguf" || $board put "$("$REPO/scripts/model.sh" "$model")" /tmp
	done
}

# trace BUILD MODELS SPECIAL: runs it on the board; what it brings back lies in builds/BUILD
trace() {
	local out=$dir/builds/${1//[:\/]/-} model said
	mkdir -p "$out"
	echo "$3" >"$out/levels"
	# shellcheck disable=SC2086  # several models
	put_models ${2//,/ }
	tar -C "$files" -cf - . | $board run "rm -rf /tmp/build; mkdir /tmp/build; tar -C /tmp/build -xf -"
	for model in ${2//,/ }; do
		runs=$((runs + 1))
		$board run "dmesg -c >/dev/null; profinfer-agent record --out /tmp/t.pfi -- /tmp/build/nodes -m /tmp/$model.gguf ${RUN[*]} >/tmp/nodes.txt" \
			2>"$out/$model.log" </dev/null || wrong "$out/$model" "the agent's exit status is $?: $(tail -n 1 "$out/$model.log")"
		said=$($board run "dmesg | grep -i -m 1 uprobe" </dev/null || true)
		[ -z "$said" ] || wrong "$out/$model" "the kernel says: $said"
		$board get /tmp/nodes.txt "$out/$model.txt"
		case $model in moe-*) $board run "/tmp/build/nodes -m /tmp/$model.gguf ${RUN[*]/--list/--experts}" >"$out/$model.experts" </dev/null ;; esac
		[ -f "$out/$model.row" ] || $board get /tmp/t.pfi "$out/$model.pfi"
	done
}

# wrong FILE WHY: a row that says so
wrong() {
	printf '%s\t' - - - - - - - >"$1.row"
	echo "$2" >>"$1.row"
	note "FAILED: $1: $2"
	failed=$((failed + 1))
}

"$REPO/scripts/build-agent.sh" >/dev/null
builds=0 runs=0 failed=0
say "one board for all of them: ${kernel[*]}"
$board up "${kernel[@]}" 2>"$dir/up.log" || { cat "$dir/up.log" >&2; die "the board does not boot"; }
while IFS=$'\x1f' read -r machine build _ models special _ <&3; do
	if [ "$machine" != arm64 ] || [ -z "$models" ] || ! wanted "$build" "$special"; then continue; fi
	say "$build"
	builds=$((builds + 1))
	files=$(arm64_files "$build") || { failed=$((failed + 1)); note "FAILED: $build cannot be had"; continue; }
	trace "$build" "$models" "$special"
done 3< <(tr '\t' '\037' <"$REPO/ci/engines/builds.tsv") # fields may be empty, which tabs do not tell
[ "$builds" -gt 0 ] || die "no such build: ${only[*]}" "Those for arm64 with models in ci/engines/builds.tsv run here."
$board down 2>/dev/null

say "traces and the engines' own lists"
PROFINFER_ENGINES_DIR=$dir/builds cargo test -q --locked --manifest-path "$REPO/Cargo.toml" -p host-analyzer --test oracle engines::traces_of >"$dir/oracle.log" 2>&1 || {
	grep -q '^test result' "$dir/oracle.log" || cat "$dir/oracle.log" >&2
	failed=$((failed + 1))
}
board_rows | awk -F'\t' '{ printf "%-20s %-10s nodes %9s  names %9s  experts %9s  tokens %8s  threads %s  spans %5s  lost %s  %s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 }'
if [ -n "$full" ]; then fill_page "$REPO/docs/engines.md"; fi
echo "arm64 engines: $builds builds, $runs runs in $SECONDS s, $failed failed"
[ "$failed" = 0 ]
