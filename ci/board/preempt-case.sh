#!/bin/sh
# preempt-case.sh SECONDS ENGINES TOKENS [ARGUMENT_OF_RECORD]...      one case of ci/board/preempt.sh, which runs this in the guest
#
# In rounds until the time is over: ENGINES engines of 8 threads at once, each under an agent.
# RECORDING.{pfi,txt,log,status} of each go to /tmp/case. A crash of the guest loses them, so the
# script prints the uptime at the start of the case.
seconds=$1 engines=$2 tokens=$3
shift 3
rm -rf /tmp/case
mkdir -p /tmp/case
cd /tmp/case || exit
begin=$(cut -d. -f1 /proc/uptime)
echo "begin $(cut -d' ' -f1 /proc/uptime)"
# one RECORDING ARGUMENT...
one() {
	name=$1
	shift
	profinfer-agent record --full --out "$name.pfi" "$@" -- nodes -m /model.gguf -t 8 -p 8 -n "$tokens" >"$name.txt" 2>"$name.log" </dev/null
	echo $? >"$name.status"
}
round=0
while [ $(($(cut -d. -f1 /proc/uptime) - begin)) -lt "$seconds" ]; do
	round=$((round + 1))
	engine=0
	while [ $engine -lt "$engines" ]; do
		engine=$((engine + 1))
		one "$round-$engine" --counters minor-faults,major-faults "$@" &
	done
	wait
	echo "round $round $(cut -d' ' -f1 /proc/uptime)"
done
