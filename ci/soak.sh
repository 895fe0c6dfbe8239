#!/usr/bin/env bash
# soak.sh [--hours H | --minutes M | --seconds S] [--server] [--rotate LIMITS]      a long capture at full rate (default: 2 minutes)
#
# An engine decodes without a pause, the agent sends every operator, `analyze` keeps the recording in pieces (default: --rotate 16M,10min).
# After a warm-up the memory of the agent's own must not change by a page; with --server, what it comes back to. Every piece must be readable
# alone once it is whole, the newest one while it grows, and every span that the kernel saw must be received or counted as lost in the end.
# With --server the agent waits for an engine by name, which ends and starts again every 4 s or so. Needs root; by hand: --hours 2, and
# --hours 24 --server.
set -euo pipefail
. "$(dirname "$0")/faults/common.sh"
exec python3 -B ci/faults/soak.py "$@"
