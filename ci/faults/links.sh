#!/usr/bin/env bash
# links.sh [N]      breaks the link between agent and analyze N times (default 100) while an engine decodes
#
# A forwarder cuts the connection at random moments, the first time after the hello. Each time
# `analyze` connects again and requests the missing frames. Checked at the end: every span that the
# kernel saw was received, or is counted as dropped at the agent's queue. Needs root; run it by hand.
set -euo pipefail
. "$(dirname "$0")/common.sh"
exec python3 -B ci/faults/links.py "${1:-100}"
