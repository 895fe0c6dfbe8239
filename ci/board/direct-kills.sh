#!/usr/bin/env bash
# direct-kills.sh [--kernel K] [--whole | --uprobes] [--seconds S] [N]      as ci/direct-kills.sh, on the emulated board (default: Linux 5.10, 1000 kills)
#
# With --uprobes, agents with uprobes: see ci/faults/kills.sh. The loop runs on the board: a static
# program of ci/kills/*.c. Emulation is slow; see --seconds. Run by hand.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
n=1000 whole='' uprobes='' seconds=36000 rest=()
while [ $# -gt 0 ]; do
	case $1 in
	--whole) whole=1; shift ;;
	--uprobes) uprobes=1; shift ;;
	--seconds) seconds=${2:?how long?}; shift 2 ;;
	[0-9]*) n=$1; shift ;;
	--kernel) rest+=("$1" "${2:?which kernel?}"); shift 2 ;;
	*) rest+=("$1"); shift ;;
	esac
done
board_args ${rest[@]+"${rest[@]}"}
begin
have aarch64-linux-gnu-gcc || need_pkgs gcc-aarch64-linux-gnu
aarch64-linux-gnu-gcc -O2 -Wall -Wextra -static -o "$dir/kills" "$REPO"/ci/kills/*.c
how=/tmp/alone
[ -z "$whole" ] || how=
[ -z "$uprobes" ] || how=--uprobes
alone=$("$REPO/scripts/build-agent.sh" --alone | tail -n 1)
boot "${kernel[@]}" || die "the board does not boot"
$board put "$dir/kills"
$board put "$alone" /tmp/alone
$board run "chmod +x /tmp/kills /tmp/alone && mkdir -p /tmp/folder &&
	/tmp/kills $n 2 $seconds /bin/profinfer-agent /engine/nodes /model.gguf /tmp/folder $how" </dev/null
leave
