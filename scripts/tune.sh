#!/usr/bin/env bash
# tune.sh [options] 'COMMAND'      tries numbers of threads and sets of CPUs in turn, and says which to take
#
#   COMMAND            a command of the engine with {threads} where the number belongs; without it, `-t N` is put at its end
#   --threads LIST     numbers of threads to try, for example 1,2,4 (default: 1 to the number of CPUs)
#   --cpus LISTS       sets of CPUs to bind the engine to (taskset), separated by spaces, for example '4-7 0-3 0-7': each is tried with
#                      all numbers of threads that it has CPUs for (default: not bound)
#   --rounds N         runs of each setting (default: 4; from four on an exact interval can be given)
#   --out DIR          where recordings and result go (default: tuning); recordings of an earlier series there are removed
#   --agent FILE       the agent (default: the one that is built here)
#   --analyze FILE     the analyzer (default: the one that is built here)
#   --levels LIST      levels to capture (default: token,graph, which cost next to nothing)
#   --pause SECONDS    before each run, to let the board cool down (default: 0)
#   --on 'PREFIX'      run the agent there, for example 'ssh root@BOARD': the agent is a file of that machine then (--agent), and so are
#                      the engines; each recording comes back on the standard output of PREFIX
#   -- OPTION…         options for `analyze tune`, for example --practical 5%
#
# Each round tries all settings, and every other one backwards: what drifts, as heat does, falls on all of them. COMMAND is read as a
# shell does. Needs root and BPF where the agent runs.
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/scripts/record_run.sh"
threads='' cpus='' rounds=4 out=tuning agent='' analyze='' levels=token,graph pause=0 on='' command=''
while [ $# -gt 0 ]; do
	case $1 in
	--threads | --cpus | --rounds | --out | --agent | --analyze | --levels | --pause | --on)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	-h | --help) usage_from_head "$0"; exit ;;
	--) shift; break ;;
	-*) die "unknown option '$1'" "See $0 --help" ;;
	*) [ -z "$command" ] || die "one command is needed, and '$1' is another" "Put it in quotes; see $0 --help"; command=$1 ;;
	esac
	shift
done
[ -n "$command" ] || die "a command is needed" "Put it in quotes; see $0 --help"
case $command in *'{threads}'*) ;; *) command="$command -t {threads}" ;; esac
case $rounds in '' | *[!0-9]* | 0) die "--rounds $rounds: give a number of runs" ;; esac
# shellcheck disable=SC2086  # the prefix is a command with its arguments
there() { if [ -n "$on" ]; then $on "$1" </dev/null; else sh -c "$1"; fi; }
if [ -z "$threads" ]; then
	n=$(there nproc) || die "the number of CPUs is not known: $on nproc failed" "Give --threads 1,2,4"
	threads=$(seq -s , "$n")
fi
for n in ${threads//,/ }; do
	case $n in '' | *[!0-9]* | 0) die "--threads $threads: '$n' is no number of threads" ;; esac
done

# cpus_of LIST: the numbers in a list of CPUs like 0-3,6
cpus_of() {
	local part
	for part in ${1//,/ }; do
		case $part in
		*[!0-9-]* | -* | *- | *-*-*) return 1 ;;
		*-*) seq "${part%-*}" "${part#*-}" ;;
		*) echo "$part" ;;
		esac
	done
}
# mask_of LIST: the same as a mask in hex, which every taskset takes
mask_of() {
	local cpu mask=0
	for cpu in $(cpus_of "$1"); do mask=$((mask | 1 << cpu)); done
	printf '%x' "$mask"
}

# The settings: name, threads, CPUs.
settings=()
for set in ${cpus:-all}; do
	for n in ${threads//,/ }; do
		if [ "$set" = all ]; then settings+=("t$n $n"); continue; fi
		held=$(cpus_of "$set" | sort -un | wc -l) || held=0
		[ "$held" -gt 0 ] || die "--cpus: '$set' is no list of CPUs" "Write it like 4-7 or 0,2"
		[ "$n" -gt "$held" ] || settings+=("t$n@$set $n $set")
	done
done
[ ${#settings[@]} -ge 2 ] || die "there is only one setting to try: ${settings[*]}" "Give more numbers of threads or sets of CPUs"
need_agent
need_analyze
mkdir -p "$out"
find "$out" -mindepth 2 -maxdepth 2 -name setting.json -printf '%h\0' | xargs -0 -r rm -rf --

note_setting() {
	mkdir -p "$out/$1"
	printf '{"threads": %d, "cpus": %s}\n' "$2" "$([ -z "${3:-}" ] && echo null || echo "\"$3\"")" >"$out/$1/setting.json"
}
for setting in "${settings[@]}"; do
	# shellcheck disable=SC2086  # three words
	note_setting $setting
done
for i in $(seq "$rounds"); do
	order=$(seq 0 $((${#settings[@]} - 1)))
	[ $((i % 2)) = 1 ] || order=$(seq $((${#settings[@]} - 1)) -1 0)
	for k in $order; do
		read -r name n set <<<"${settings[k]}"
		say "round $i of $rounds: $name"
		run=${command//'{threads}'/$n}
		record_run "$out/$name/$i.pfi" "${set:+taskset $(mask_of "$set") }$run"
	done
done
exec "$analyze" tune "$out" --out "$out" "$@"
