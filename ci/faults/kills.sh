#!/usr/bin/env bash
# kills.sh [--workers W] [--seconds S] [--model NAME] [N]      kills agents (SIGKILL) with uprobes in engines that decode (default: 500 kills)
#
# Kills an agent N times at a random moment: while it reads the engine's files, loads its programs,
# places probes, or records. A fifth of the agents have a duty cycle. W engines (default 2) decode
# all the time. After each kill, every probe must disappear: the engine's code must equal its files,
# byte by byte, breakpoints included. No thread may be stopped or traced, its signals must be as
# before, it must continue, and every token must equal that of an undisturbed run. In the end, the
# kernel must hold as many BPF programs as before; the script shows the speed of each engine next to
# that of a new one, in turn. The kernel takes 1 to 2 s to release the uprobes of a killed agent.
# Needs root; 500 kills take about 20 minutes. Run by hand.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
exec "$(dirname "$0")/../direct-kills.sh" --uprobes 500 "$@"
