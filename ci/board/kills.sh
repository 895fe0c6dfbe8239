#!/usr/bin/env bash
# kills.sh [--kernel K] [--seconds S] [N]      as ci/faults/kills.sh, on the emulated board (default: Linux 5.10, 100 kills)
#
# The loop runs on the board: a static program of ci/kills/*.c. Emulation is slow; see --seconds.
# Run by hand.
exec "$(dirname "$0")/direct-kills.sh" --uprobes "$@"
