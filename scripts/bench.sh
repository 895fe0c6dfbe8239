#!/usr/bin/env bash
# bench.sh [--pairs N] [--model NAME] [--threads N] [--tokens N] [--no-bpftrace]      what tracing costs
#
# Decode speed of llama-bench without and with the agent, runs interleaved, median of the ratios; all levels, token and
# graph level only, and beside them bpftrace recording the same operators at function entries. Then bytes per span, losses,
# memory, and the speed of the analyser. Prints figures and tests nothing. Needs root and BPF, and a machine without other load.
set -eu
. "$(dirname "$0")/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
scripts/setup.sh
why=$(have_bpf) || die "this machine cannot trace: $why"
say "building"
cargo build -q --locked --release -p profinfer-agent
cargo build -q --locked --profile host -p host-analyzer --bin analyze --example bench_ingest --example bench_views
say "engine and model"
engine=$(scripts/engine.sh)
model=$(scripts/model.sh big-1b-q4km)
case " $* " in
*" --no-bpftrace "*) ;;
*) need_pkgs bpftrace ;;
esac
python3 ci/bench/overhead.py --agent "$CARGO_TARGET_DIR/release/profinfer-agent" --engine "$engine" --model "$model" "$@"
say "analyser: a million spans, one core; bytes to tables, then every analysis and view"
taskset -c 0 "$CARGO_TARGET_DIR/host/examples/bench_ingest"
taskset -c 0 "$CARGO_TARGET_DIR/host/examples/bench_views"
