#!/usr/bin/env bash
# direct-kills.sh [--whole | --uprobes] [--workers W] [--seconds S] [--model NAME] [N]      SIGKILLs what has, puts in or takes out direct probes
#
# N times (default 5000) an agent is killed at a random moment, most of them while the engine stands still for it: in the bootstrap,
# while the page is written, the code changed or put back; a fifth of them have a duty cycle. W engines (default 2) decode all the while,
# each with one agent after the other. After each kill the engine must live and go on. After every 20 kills, and at the end, `repair`
# runs, the engine's code must be that of its files, byte by byte, and every token that it computed that of an undisturbed run.
#
# What is killed is the agent's direct probes without the rest of it (ci/kills/alone), because the kernel takes seconds to release the uprobes
# of a whole one. --whole kills whole agents; --uprobes those with uprobes, see ci/faults/kills.sh. The loop itself is ci/kills/*.c, the same on a board: ci/board/direct-kills.sh.
# Needs root; 5000 kills take about five minutes, of whole agents hours: --seconds ends it before. Run by hand.
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
