#!/usr/bin/env bash
# links.sh [N]      the link between agent and analyze goes down and up N times (default 100) while an engine decodes
#
# A forwarder cuts the connection at random moments, the first time behind the hello. Each time `analyze` connects again and asks for what is
# missing. At the end every span that the kernel saw must be received, or counted as dropped at the agent's queue. Needs root; by hand.
set -euo pipefail
. "$(dirname "$0")/common.sh"
exec python3 -B ci/faults/links.py "${1:-100}"
