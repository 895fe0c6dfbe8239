#!/usr/bin/env bash
# faults.sh [--schedules N] [--seed S]      injects faults between agent and analyze, from seeds (default: 100000 schedules from seed 1)
#
# Each schedule makes a session by the agent's encoder, spoils the bytes on their way (lost, cut, twice, out of order, bits, stalls, line ends,
# console noise) and reads what arrives. Each record that is decoded must have been sent so, and all that is missing be in a counted gap,
# behind a cut, or of a stream that is refused. Every eighth goes over a connection that breaks, every eighth over a serial line whose
# host asks again: there everything must arrive. A seed that fails is printed: --seed S --schedules 1 runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
[[ " $* " == *" --schedules "* ]] || set -- --schedules 100000 "$@"
# The whole workspace: for a part of it cargo would choose other features of what they share, and compile that again.
cargo build -q --locked --workspace --bins
exec "$CARGO_TARGET_DIR/debug/profinfer-faults" "$@"
