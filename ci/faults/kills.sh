#!/usr/bin/env bash
# kills.sh [--workers W] [--seconds S] [--model NAME] [N]      kills agents with uprobes while engines decode (N times, default 500)
#
# The script kills an agent with SIGKILL N times at a random moment: while it examines the engine's
# files, loads its programs, inserts probes, or records. A fifth of the agents have a duty cycle. W
# engines (default 2) decode all the time. Checked after each kill: every probe goes away, so that the
# engine's code equals its files, byte by byte, breakpoints included. No thread is stopped or traced,
# its signals are as before, it continues, and every token equals that of an undisturbed run. At the
# end the kernel has as many BPF programs as before, and the script prints each engine's speed next to
# a new engine's, in turn. The kernel takes 1 to 2 s to release the uprobes of a killed agent.
# Needs root; 500 kills take about 20 minutes. Run it by hand.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
exec "$(dirname "$0")/../direct-kills.sh" --uprobes 500 "$@"
