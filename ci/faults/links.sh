#!/usr/bin/env bash
# links.sh [N]      the link between agent and analyze goes down and up N times (default 100) while an engine decodes
#
# A forwarder cuts the connection at random moments, first after the hello. Each time `analyze`
# reconnects and requests what is missing. In the end, every span that the kernel saw must be
# received or counted as dropped at the agent's queue. Needs root. Run by hand.
set -euo pipefail
. "$(dirname "$0")/common.sh"
exec python3 -B ci/faults/links.py "${1:-100}"
