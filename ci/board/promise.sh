#!/usr/bin/env bash
# promise.sh [--keep DIR] [CAUSE...]      findings keep their promises on the emulated board: causes that only a board, or another kernel, has
#
#   quota   a control group of version 2 with a quota of half a CPU
#   clock   a governor's limit, and CPUs that are really slowed with it
#   heat    in the middle of a session the board becomes hot, its clock falls, and its CPUs slow down with it
#   cores   threads on Cortex-A55 and A76, of which the A55 are really slow
#   bench   no cause, but ceilings with the instructions that the processor has: of a Cortex-A76, and of one with all that QEMU knows
#
# scripts/board/speed-plugin.c slows CPUs down. QEMU has no cpufreq and no thermal zones; files
# mounted over those of the kernel replace them. Each cause and its remedy are recorded three times,
# and host-analyzer/analyze/tests/oracle/board_causes.rs judges them as ci/promise.sh does. Compares
# times, so it needs a quiet machine for about five minutes. Run by hand.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
board_args "$@"
[ ${#only[@]} -gt 0 ] || only=(quota clock heat cores bench)
for name in "${only[@]}"; do
	case $name in quota | clock | heat | cores | bench) ;; *) die "no cause '$name'" "$(usage_from_head "$0" | sed -n '3,7p')" ;; esac
done
PAIRS=3
begin
tests_build

# on_board COMMANDS: as one command line of the board
on_board() { $board run "$1" 2>"$dir/board.log" </dev/null || die "this failed on the board: $1" "$(tail -n 3 "$dir/board.log")"; }
# recorded NAME COMMAND: the agent records this command of the board's shell
recorded() {
	# What the engine prints goes to standard error: the summary is alone on the other.
	on_board "profinfer-agent record --format json --out /tmp/t.pfi -- $2 2>/tmp/agent.log || { tail -n 3 /tmp/agent.log >&2; exit 1; }" >"$dir/$1.json"
	note "$1: $(python3 "$REPO/ci/agent_json.py" recorded "$dir/$1.json")"
	$board get /tmp/t.pfi "$dir/$1.pfi"
}
# As one CPU of the board computes, the machine that emulates it has another one for the rest.
one_thread="taskset 2 nodes -m /model.gguf -t 1 -p 8 -n 200 --prompt a"

quota() {
	local i
	boot --kernel 6.12 --speeds || die "the board does not boot"
	on_board "mount -t cgroup2 cgroup2 /sys/fs/cgroup && echo +cpu >/sys/fs/cgroup/cgroup.subtree_control &&
		mkdir /sys/fs/cgroup/engine && echo 25000 50000 >/sys/fs/cgroup/engine/cpu.max"
	for i in $(seq $PAIRS); do
		recorded "quota-cause-$i" "sh -c 'echo \$\$ >/sys/fs/cgroup/engine/cgroup.procs && exec $one_thread'"
		recorded "quota-remedy-$i" "$one_thread"
	done
}

# clock_files GOVERNOR LIMIT CLOCK TEMPERATURE: commands that make the files say so; kHz, 1/1000 degrees
clock_files() {
	echo "cd /sys/devices/system/cpu/cpufreq/policy0 && echo $1 >scaling_governor && echo $2 >scaling_max_freq && echo $3 >scaling_cur_freq &&
		echo $4 >/sys/class/thermal/thermal_zone0/temp"
}
# A board with these files, at its highest clock
clocked() {
	boot --kernel 6.12 --speeds || die "the board does not boot"
	on_board "set -e
		[ ! -d /tmp/cpu ] || exit 0
		mkdir -p /tmp/cpu/cpufreq/policy0 /tmp/thermal/thermal_zone0
		cd /sys/devices/system/cpu
		cp online possible present /tmp/cpu
		for c in 0 1 2 3; do
			mkdir -p /tmp/cpu/cpu\$c/regs/identification
			cp cpu\$c/regs/identification/midr_el1 /tmp/cpu/cpu\$c/regs/identification
			ln -s ../cpufreq/policy0 /tmp/cpu/cpu\$c/cpufreq
		done
		cd /tmp/cpu/cpufreq/policy0
		echo 2400000 >cpuinfo_max_freq
		echo 400000 | tee cpuinfo_min_freq >scaling_min_freq
		echo soc-thermal >/tmp/thermal/thermal_zone0/type
		mount -o bind /tmp/cpu /sys/devices/system/cpu
		mount -o bind /tmp/thermal /sys/class/thermal"
	on_board "$(clock_files performance 2400000 2400000 45000)"
	$board speed 100
}

clock() {
	local i
	clocked
	for i in $(seq $PAIRS); do
		on_board "$(clock_files powersave 1200000 1200000 45000)"
		$board speed 55 # for half the clock: memory has a separate clock
		recorded "clock-cause-$i" "$one_thread"
		on_board "$(clock_files performance 2400000 2400000 45000)"
		$board speed 100
		recorded "clock-remedy-$i" "$one_thread"
	done
}

# becomes_hot BYTES: when the engine has written so much text
becomes_hot() {
	$board run "until [ \$(wc -c </tmp/text) -ge $1 ]; do sleep 0.02; done; $(clock_files performance 2400000 1200000 95000)" </dev/null &&
		$board speed 50
}

heat() {
	# The engine writes the same text every time.
	local i half nodes="sh -c 'exec $one_thread 2>/tmp/text'"
	clocked
	for i in $(seq $PAIRS); do
		recorded "heat-remedy-$i" "$nodes"
		half=$(($($board run "wc -c </tmp/text" </dev/null) / 2))
		on_board ": >/tmp/text"
		becomes_hot $half &
		recorded "heat-cause-$i" "$nodes"
		wait $!
		on_board "$(clock_files performance 2400000 2400000 45000)"
		$board speed 100
	done
}

cores() {
	# CPU 1 is an A55, CPU 2 an A76. Both are slowed, so that the machine that emulates them has time for the agent: else the fast one is
	# slow as well, and more is gained than the rule can know.
	local i both="taskset 6 nodes -m /model.gguf -t 2 -p 4 -n 40" fast="taskset 4 nodes -m /model.gguf -t 1 -p 4 -n 40"
	boot --kernel 6.12 --big-little --speeds || die "the board does not boot"
	$board speed 30 2
	for i in $(seq $PAIRS); do
		$board speed 9 1
		recorded "cores-cause-$i" "$both"
		recorded "cores-remedy-$i" "$fast"
		$board speed 30 1
		recorded "cores-even-$i" "$both"
	done
}

bench() {
	local cpu start
	for cpu in cortex-a76 max; do
		boot --kernel 6.12 --cpu $cpu || die "the board does not boot"
		start=$SECONDS
		$board run "profinfer-agent bench --format json --out /tmp/ceilings.pfi" >"$dir/bench-$cpu.json" 2>"$dir/bench-$cpu.log" </dev/null ||
			die "bench failed" "$(tail -n 3 "$dir/bench-$cpu.log")"
		note "$cpu: $(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["ceilings"]))' "$dir/bench-$cpu.json") ceilings in $((SECONDS - start)) s"
		$board get /tmp/ceilings.pfi "$dir/bench-$cpu.pfi"
		recorded "bench-$cpu-session" "nodes -m /model.gguf -t 2 -p 8 -n 32"
		switch_off
		"$ANALYZE" --ceilings "$dir/bench-$cpu.pfi" "$dir/bench-$cpu-session.pfi" -o "$dir/bench-$cpu" >"$dir/analyze.log" 2>&1 ||
			die "analyze does not take the ceilings of $cpu" "$(tail -n 3 "$dir/analyze.log")"
	done
}

for name in "${only[@]}"; do
	say "$name"
	$name
done
export PROFINFER_BOARD_CAUSES=$dir
tests_of oracle --ignored --nocapture --test-threads 1 "${only[@]/#/board_causes::}"
note "in $SECONDS s"
