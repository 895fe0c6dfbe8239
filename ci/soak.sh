#!/usr/bin/env bash
# soak.sh [--hours H | --minutes M | --seconds S] [--server] [--rotate LIMITS]      a long capture at full rate (default: 2 minutes)
#
# An engine decodes without a pause, the agent sends every operator, and `analyze` keeps the
# recording in pieces (default: --rotate 16M,10min). After a warm-up, the private memory of the
# agent must not change by a page; with --server, it must return to the same size. Every complete
# piece must be readable alone, and the newest one while it grows. In the end, every span that the
# kernel saw must be received or counted as lost. With --server, the agent waits for an engine by
# name, which ends and starts again about every 4 s. Needs root. By hand: --hours 2, and --hours 24
# --server.
set -euo pipefail
. "$(dirname "$0")/faults/common.sh"
exec python3 -B ci/faults/soak.py "$@"
