#!/usr/bin/env bash
# board.sh COMMAND      an emulated Cortex-A76 board, or an x86-64 PC (QEMU, no KVM), with a real llama.cpp on it
#
#   fetch [--arch ARCH] [--kernel K]...    fetch all parts of the board (default: arm64, all kernels)
#   engine [RELEASE]         fetch that llama.cpp release for it (see scripts/engine/npm.sh), and print the folder
#   up [OPTIONS]             boot it; returns when it is ready, and prints how to use it
#   run COMMAND...           run a command on it: its output, its exit status
#   put FILE [PATH]          copy a file to it (default: to /tmp)
#   get PATH [FILE]          copy a file from it (default: to standard output)
#   shell                    a shell on it
#   tools                    put llama-completion on it, which must have the engine `debian` (BOARD_ENGINE=debian at `up` and here)
#   speed PERCENT [CPU...]   slow these CPUs, or all, of a board with --speeds or --pace; 100 is full speed
#   log                      print its console output
#   down                     switch it off
#   list                     list kernels and boards
#
# Options of `up`:
#   --arch ARCH      arm64 (default) or x86-64. x86-64 has none of: --big-little, --device, --musl, --serial, --plugin, --speeds, --pace, --adb
#   --kernel K       5.10, 6.1 (default), 6.12 or 7.2: Debian's cloud flavour; x86-64 has 6.12 (default), 7.2 and 7.2-rt (PREEMPT_RT)
#   --append TEXT    more kernel parameters, such as preempt=full
#   --no-btf         hide the kernel's type information; kernels of vendors often have none
#   --big-little     two core types, Cortex-A55 (CPUs 0 and 1) and A76 (2 and 3), each with its own PMU
#   --device NAME    the names of pi5 or orangepi5 in its device tree, by which the kernel and `analyze` know a device
#   --musl           no glibc: llama.cpp linked with musl, and nothing else but static files
#   --serial PATH    PATH becomes a terminal device connected to the board's ttyAMA0, which is also its kernel console
#   --plugin         count events that QEMU does not: instructions, memory accesses, cache refills (about 3 times slower)
#   --speeds         CPUs whose speed the command `speed` sets
#   --pace N         the same, in percent of N million instructions per second: times do not depend on the speed or load of this machine
#   --cpu NAME       QEMU's name of a processor (default: cortex-a76, on x86-64 max); `max` has every instruction of QEMU
#   --cpus N         number of CPUs (default: 4)
#   --adb            Android's debugging daemon, for adb connect; `up` prints the port on this machine
#   --port N         port on this machine for the agent's port 7817 (default: the first free one from 7817 or BOARD_PORT on)
#   --model NAME     the GGUF on it, a name of scripts/model.sh (default: dense-q8)
#   --agent FILE     the agent on it (default: $PROFINFER_STATIC_AGENT, or built by scripts/build-agent.sh; `none`: a board without one)
#   --memory MB      (default: 1024)
#
# --board NAME before the command selects one of several boards.
# On the board: /engine/nodes (ci/drivers/nodes.cpp) with llama.cpp's libraries, /model.gguf and
# /bin/profinfer-agent; PATH names them. Kept in ~/.cache/profinfer/board, or $PROFINFER_CACHE/board.
set -eu
. "$(dirname "$0")/lib.sh"
BOARD=$CACHE/board
for f in arch fetch ssh adbd engine tools musl machine use; do
	# shellcheck source=/dev/null
	. "$REPO/scripts/board/$f.sh"
done

name=board
if [ "${1:-}" = --board ]; then
	name=${2:?--board needs a name}
	case $name in */* | .*) die "'$name' cannot be the name of a board" ;; esac
	shift 2
fi
RUN=$BOARD/run/$name
set_arch "${BOARD_ARCH:-arm64}"
command=${1:---help}
shift || true

have ssh || need_pkgs openssh-client
have python3 || need_pkgs python3

fetch_all() {
	local kernels=() k failed=()
	while [ $# -gt 0 ]; do
		case $1 in
		--arch) set_arch "${2:?--arch needs an architecture}"; shift 2 ;;
		--kernel) kernels+=("${2:?--kernel needs a version}"); shift 2 ;;
		*) die "unknown argument '$1' of fetch" "scripts/board.sh --help" ;;
		esac
	done
	[ ${#kernels[@]} -gt 0 ] || kernels=("${KERNELS[@]}")
	need_common
	need_engine
	[ "$BOARD_ARCH" != arm64 ] || need_musl || failed+=("the musl engine")
	for k in "${kernels[@]}"; do
		kernel_suite "$k" >/dev/null
		(need_kernel "$k") || failed+=("kernel $k")
	done
	[ ${#failed[@]} = 0 ] || die "could not be fetched: ${failed[*]}" "The others are ready: scripts/board.sh list"
	list
}

case $command in
-h | --help) usage_from_head "$0" ;;
fetch) fetch_all "$@" ;;
up) board_up "$@" ;;
down) board_down ;;
run) board_run "$@" ;;
put) board_put "$@" ;;
get) board_get "$@" ;;
shell) board_shell ;;
tools) board_tools ;;
speed) board_speed "$@" ;;
log) cat "$RUN/console.log" ;;
list) list ;;
engine)
	ENGINE=${1:-$ENGINE}
	need_release "$ENGINE" >&2
	echo "$PARTS/engine/$ENGINE/engine"
	;;
_make) "$@" ;; # a recipe of its own process; see `part`
*) die "no command '$command'" "$(usage_from_head "$0" | sed -n '3,14p')" ;;
esac
