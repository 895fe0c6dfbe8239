#!/usr/bin/env bash
# system.sh [--tracers] [--machine] [CASE...]      disturbs an engine and its agent by the system, case by case, on this machine
#
# --tracers   also other tracers of the engine: gdb, strace, perf, bpftrace; installs the missing ones
# --machine   also cases that change the machine for some seconds: its clock, its CPUs
#
# Cases: killed exec fork killed_agent frozen stopped two_agents signals overflow disk_full disk_read_only disk_slow limits
# out_of_memory killed_for_memory no_time; gdb strace perf bpftrace direct; clock cpu. Each case checks
# that the engine continues, that its tokens equal those of an undisturbed run, that no probe is left
# in its code, and that every operator that the kernel saw is in the recording or counted as dropped.
# Needs root and BPF.
set -euo pipefail
. "$(dirname "$0")/common.sh"
LIFE_MODEL=$FAULTS_MODEL
LIFE_TOOLS=$(mktemp -d)
export LIFE_MODEL LIFE_TOOLS
trap 'rm -rf "$LIFE_TOOLS"' EXIT
case " $* " in *" --tracers "*)
	packages=()
	for pair in gdb:gdb strace:strace perf:linux-perf bpftrace:bpftrace; do
		have "${pair%:*}" || packages+=("${pair#*:}")
	done
	[ ${#packages[@]} = 0 ] || need_pkgs "${packages[@]}"
	;;
esac
cc -O2 -Wall -Wextra -shared -fPIC -o "$LIFE_TOOLS/preload.so" ci/kills/life/preload.c
PYTHONPATH=ci/kills/life python3 -B ci/faults/system "$@"
