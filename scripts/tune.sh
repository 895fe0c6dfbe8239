#!/usr/bin/env bash
# tune.sh [RECORDING] [OPTION…] -- COMMAND      measures thread counts and CPU sets in turn, and recommends one
#
# Builds the agent and the analyzer, and runs `analyze tune --run`. The options are those of that command (`analyze tune --help`):
#
#   tune.sh --threads 1,2,4 --cpus '4-7 0-7' -- 'llama-completion -m m.gguf -n 64 -t {threads}'
#   tune.sh --on 'ssh root@BOARD' --agent /data/local/tmp/profinfer-agent -- 'llama-completion …'     # agent and engine of a board
#
# With --agent, no agent is built. Needs root and BPF where the agent runs.
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/scripts/record_run.sh"
agent='' analyze='' on='' options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	case $1 in
	-h | --help) usage_from_head "$0"; exit ;;
	--agent) agent=${2:?--agent needs a file}; shift ;;
	--on) on=${2:?--on needs a prefix}; shift ;;
	*) options+=("$1") ;;
	esac
	shift
done
need_agent
need_analyze
exec "$analyze" tune --run --agent "$agent" ${on:+--on "$on"} "${options[@]}" "$@"
