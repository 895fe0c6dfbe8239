#!/bin/sh
# direct.sh AGENT DIR COMMAND...     record one process of the driver `nodes` with direct probes, then with uprobes
#
# COMMAND lists its nodes, and repeats the same calls until this script ends it. DIR gets
# direct.pfi, uprobe.pfi, the agent's summaries of them (.json) and list.txt. Two probes cannot be
# at the same place, so one recording follows the other.
# host-analyzer/analyze/tests/oracle/engines_direct.rs compares them with the list and with each
# other. Also runs on the emulated board (busybox).
set -eu
agent=$1 dir=$2
shift 2
mkdir -p "$dir"
rm -f "$dir"/*.pfi
"$@" -r 1000000 --fresh >"$dir/list.txt" 2>"$dir/engine.log" </dev/null &
engine=$!
recorder=''
trap 'kill $recorder "$engine" 2>/dev/null || true' EXIT
trap 'exit 1' HUP INT TERM

# Complete calls before and after those that are compared: the first and the last ones may have lacked probes.
CALLS=28

# Counts in what the list has got since it was last looked at: it grows by megabytes a second, and who reads all of it again and again
# takes the agent's CPU. A line that a look cuts in two may be left out, never counted twice.
calls=0 seen=0
count_calls() {
	now=$(wc -c <"$dir/list.txt")
	calls=$((calls + $(tail -c "+$((seen + 1))" "$dir/list.txt" | head -c "$((now - seen))" | grep -c '^decode' || true)))
	seen=$now
}
size() { [ ! -f "$1" ] || wc -c <"$1"; }
# until_true SECONDS WHAT COMMAND...
until_true() {
	seconds=$1 what=$2 tries=0
	shift 2
	until "$@"; do
		tries=$((tries + 1))
		kill -0 "$engine" 2>/dev/null || { echo "the engine ended: $(tail -n 1 "$dir/engine.log")" >&2; exit 1; }
		[ "$tries" -lt $((seconds * 10)) ] || { echo "$what: not within $seconds s: $(tail -n 1 "$dir/$probes.log" 2>/dev/null)" >&2; exit 1; }
		sleep 0.1
	done
}
computes() { count_calls && [ "$calls" -gt 0 ]; }
# Graphs have been recorded, long after the first records of a session.
grows() { [ "$(size "$dir/$probes.pfi" || echo 0)" -gt 8192 ] 2>/dev/null; }
enough() { count_calls && [ "$calls" -ge "$last" ]; }

# Wait until the recorder has ended. If it does not, print where it and the engine are blocked.
ended() {
	tries=0
	while [ -d "/proc/$recorder" ] && ! grep -q '^State:.Z' "/proc/$recorder/status" 2>/dev/null; do
		tries=$((tries + 1))
		if [ "$tries" -ge 1200 ]; then
			echo "the agent does not end within 120 s of SIGINT: $(tail -n 1 "$dir/$probes.log")" >&2
			for thread in /proc/"$recorder"/task/* /proc/"$engine"/task/*; do
				echo "${thread##*/}: $(grep -E '^(State|TracerPid)' "$thread/status" | tr '\n\t' '  ') $(cat "$thread/wchan" "$thread/syscall" "$thread/stack" | tr '\n' ' ')" >&2
			done
			kill -KILL "$recorder"
			exit 1
		fi
		sleep 0.1
	done
}

probes=direct
until_true 60 "a first call" computes
for probes in direct uprobe; do
	"$agent" record --full --probes "$probes" --levels token,graph,op --out "$dir/$probes.pfi" --pid "$engine" --format json >"$dir/$probes.json" 2>"$dir/$probes.log" </dev/null &
	recorder=$!
	until_true 120 "a recording" grows
	count_calls
	last=$((calls + CALLS))
	until_true 120 "$CALLS calls" enough
	kill -INT "$recorder"
	ended
	wait "$recorder" || { echo "the agent's exit status is $?: $(tail -n 1 "$dir/$probes.log")" >&2; exit 1; }
	recorder=''
done
kill -0 "$engine" || { echo "the engine did not live" >&2; exit 1; }
