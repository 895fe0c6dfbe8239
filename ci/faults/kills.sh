#!/usr/bin/env bash
# kills.sh [--workers W] [--seconds S] [--model NAME] [N]      SIGKILLs agents with uprobes around engines that decode (default: 500 kills)
#
# N times an agent is killed at a random moment: while it looks through the engine's files, loads its programs, puts probes in, or records; a
# fifth of them have a duty cycle. W engines (default 2) decode all the while. After each kill every probe must go away: the engine's code must
# be that of its files, byte by byte, breakpoints included. No thread may be stopped or traced, its signals must be as before, it must go on, and
# every token must be that of an undisturbed run. In the end the kernel holds as many BPF programs as before, and each engine's speed is shown
# against a new one's, in turn. The kernel takes 1 to 2 s to release the uprobes of an agent that was killed.
# Needs root; 500 kills take some 20 minutes. By hand.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
exec "$(dirname "$0")/../direct-kills.sh" --uprobes 500 "$@"
