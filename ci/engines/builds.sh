# shellcheck shell=bash
# Reading ci/engines/builds.tsv. Sourced by ci/engines/matrix.sh and ci/board/engines.sh.

# Options of each run: prefill and decode, with the engine's own list.
# shellcheck disable=SC2034  # for those who source this
RUN=(-t 2 -p 5 -n 3 -c 512 --list)
: "${full:=}"
[ -n "${only+set}" ] || only=()

# builds COMMAND: calls COMMAND with machine, build, date, models, special, operators and direct of every build that is wanted: those
# named in `only`, else all if `full` is set, else the few that every test run looks at. Fails if there is none.
builds() {
	local machine build date models special operators direct wanted=0
	while IFS=$'\x1f' read -r machine build date models special operators direct <&3; do
		case $machine in '' | '#'*) continue ;; esac
		if [ ${#only[@]} -gt 0 ]; then [[ " ${only[*]} " == *" $build "* ]] || continue
		elif [ -z "$full" ]; then [[ ,$special, == *,short,* ]] || continue
		fi
		wanted=$((wanted + 1))
		"$1" "$machine" "$build" "$date" "$models" "$special" "$operators" "$direct"
	done 3< <(tr '\t' '\037' <"$REPO/ci/engines/builds.tsv") # read would merge tabs around an empty field
	[ "$wanted" -gt 0 ] || die "no such build: ${only[*]}" "Those of ci/engines/builds.tsv are known."
}
