#!/usr/bin/env bash
# compare.sh [options] 'COMMAND A' 'COMMAND B'      records two commands in turn (A B B A …), and compares the recordings
#
#   --rounds N         runs of each command (default: 4; an exact interval needs at least four)
#   --out DIR          folder for recordings and comparison (default: comparison-runs); removes recordings of an earlier series
#   --agent FILE       the agent (default: built here)
#   --analyze FILE     the analyzer (default: built here)
#   --levels LIST      levels to capture (default: the agent's)
#   --pause SECONDS    before each run, to let the board cool down (default: 0)
#   --on 'PREFIX'      run the agent on another machine, for example 'ssh root@BOARD'. --agent and the engines are paths on that machine;
#                      recordings are returned on the standard output of PREFIX
#   -- OPTION…         options for `analyze compare`, for example --fail-if slower=2%
#
# The exit status is that of `analyze compare`: 0; 3 if B is slower than allowed; 4 if the work differs or the runs cannot decide; 1 for errors.
# A shell interprets the commands. Needs root and BPF where the agent runs.
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/scripts/record_run.sh"
rounds=4 out=comparison-runs agent='' analyze='' levels='' pause=0 on='' commands=()
while [ $# -gt 0 ]; do
	case $1 in
	--rounds | --out | --agent | --analyze | --levels | --pause | --on)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	-h | --help) usage_from_head "$0"; exit ;;
	--) shift; break ;;
	-*) die "unknown option '$1'" "See $0 --help" ;;
	*) commands+=("$1") ;;
	esac
	shift
done
[ ${#commands[@]} = 2 ] || die "two commands are needed, ${#commands[@]} were given" "Put each in quotes; see $0 --help"
case $rounds in '' | *[!0-9]* | 0) die "--rounds $rounds: give a number of runs" ;; esac
need_agent
need_analyze
rm -rf "$out/a" "$out/b"
mkdir -p "$out/a" "$out/b"

# one SIDE NUMBER COMMAND: record a run
one() {
	say "run $2 of $1"
	record_run "$out/$1/$2.pfi" "$3"
}
for i in $(seq "$rounds"); do
	# Alternate the first side, so that drift affects both alike.
	if [ $((i % 2)) = 1 ]; then order='a b'; else order='b a'; fi
	for side in $order; do
		if [ "$side" = a ]; then one a "$i" "${commands[0]}"; else one b "$i" "${commands[1]}"; fi
	done
done
exec "$analyze" compare "$out/a" "$out/b" --out "$out/comparison" "$@"
