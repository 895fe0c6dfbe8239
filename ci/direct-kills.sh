#!/usr/bin/env bash
# direct-kills.sh [--whole | --uprobes] [--workers W] [--seconds S] [--model NAME] [N]      kills agents (SIGKILL) with direct probes in engines
#
# Kills an agent N times (default 5000) at a random moment, mostly while the engine is stopped for
# it: in the bootstrap, while it writes the page, changes the code or puts it back. A fifth of the
# agents have a duty cycle. W engines (default 2) decode all the time, each with one agent after
# another. After each kill, the engine must be alive and continue. After every 20 kills, and at the
# end, `repair` runs: the engine's code must equal its files, byte by byte, and every token must
# equal that of an undisturbed run.
#
# By default, kills the direct probes of the agent without the rest (ci/kills/alone), because the
# kernel takes seconds to release the uprobes of a complete agent. --whole kills complete agents;
# --uprobes those with uprobes, see ci/faults/kills.sh. The loop is ci/kills/*.c, also for boards:
# ci/board/direct-kills.sh. Needs root. 5000 kills take about five minutes, of complete agents
# hours; --seconds ends it earlier. Run by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
n=5000 workers=2 seconds=36000 model=dense-q8 whole='' uprobes=''
while [ $# -gt 0 ]; do
	case $1 in
	--whole) whole=1; shift ;;
	--uprobes) uprobes=1; shift ;;
	--workers) workers=${2:?how many engines?}; shift 2 ;;
	--seconds) seconds=${2:?how long?}; shift 2 ;;
	--model) model=${2:?which model?}; shift 2 ;;
	-h | --help) usage_from_head "$0"; exit ;;
	-*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	*) n=$1; shift ;;
	esac
done
target=${CARGO_TARGET_DIR:-target}/debug
agent=${PROFINFER_AGENT:-$target/profinfer-agent} alone=()
[ -x "$agent" ] || die "there is no $agent" "Build it: cargo build --workspace --bins"
if [ -n "$uprobes" ]; then
	alone=(--uprobes)
elif [ -z "$whole" ]; then
	alone=("${PROFINFER_DIRECT_ALONE:-$target/profinfer-direct-alone}")
	[ -x "${alone[0]}" ] || die "there is no ${alone[0]}" "Build it: cargo build -p profinfer-direct-alone"
fi
engine=${PROFINFER_ENGINE_DIR:-$(scripts/engine.sh | tail -n 1)}
models=${PROFINFER_MODELS_DIR:-$CACHE/models}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O2 -Wall -Wextra -o "$folder/kills" ci/kills/*.c
"$folder/kills" "$n" "$workers" "$seconds" "$agent" "$engine/nodes" "$models/$model.gguf" "$folder" ${alone[@]+"${alone[@]}"}
