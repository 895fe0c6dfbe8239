#!/usr/bin/env bash
# kills.sh [--workers W] [--seconds S] [--model NAME] [N]      SIGKILLs agents with uprobes around engines that decode (default: 500 kills)
#
# N times an agent is killed at a random moment: while it looks through the engine's files, loads its programs, puts probes in, or records; a
# fifth of them have a duty cycle. W engines (default 2) decode all the while. After each kill every probe must go away: the engine's code must
# be that of its files, byte by byte, breakpoints included. No thread may be stopped or traced, its signals must be as before, it must go on, and
# every token must be that of an undisturbed run. The kernel takes 1 to 2 s to release the uprobes of an agent that was killed.
# Needs root; 500 kills take some 20 minutes. By hand.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/lib.sh
n=500 workers=2 seconds=36000 model=dense-q8
while [ $# -gt 0 ]; do
	case $1 in
	--workers) workers=${2:?how many engines?}; shift 2 ;;
	--seconds) seconds=${2:?how long?}; shift 2 ;;
	--model) model=${2:?which model?}; shift 2 ;;
	-h | --help) usage_from_head "$0"; exit ;;
	-*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	*) n=$1; shift ;;
	esac
done
agent=${PROFINFER_AGENT:-${CARGO_TARGET_DIR:-target}/debug/profinfer-agent}
[ -x "$agent" ] || die "there is no $agent" "Build it: cargo build -p profinfer-agent"
engine=${PROFINFER_ENGINE_DIR:-$(scripts/engine.sh | tail -n 1)}
models=${PROFINFER_MODELS_DIR:-$CACHE/models}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O2 -Wall -Wextra -o "$folder/kills" ci/kills/*.c
"$folder/kills" "$n" "$workers" "$seconds" "$agent" "$engine/nodes" "$models/$model.gguf" "$folder" --uprobes
