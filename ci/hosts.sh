#!/usr/bin/env bash
# hosts.sh [arm64] [windows]      analyze for other hosts (default: both) does what that for this machine does
#
# arm64 runs by qemu-user, Windows by wine in a Debian of its own. The kept recordings go to all views, and every file and the text
# on the terminal must have the same bytes as on this machine. On Windows also: `push` through a program in the place of ssh.exe whose
# board is this machine, and captures from real agents over TCP and over a serial line.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
cd "$REPO"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
[ $# -gt 0 ] || set -- arm64 windows
. "$REPO/ci/release/bare.sh"
. "$REPO/ci/hosts/windows.sh"
. "$REPO/scripts/board/machine.sh" # free_port
data=$REPO/host-analyzer/tests/data

# made_views ANALYZE...: what it makes of the kept recordings of this folder, in NAME/, with what it prints in NAME.text and NAME.json
made_views() {
	local name
	for name in sample demo; do
		PROFINFER_CEILINGS='' "$@" "$name.pfi" --out "$name" >"$name.text"
		PROFINFER_CEILINGS='' "$@" "$name.pfi" --out "$name" --format json >"$name.json"
	done
}
# fresh HOST: an empty folder of views
fresh() {
	views=$work/views/$1
	mkdir -p "$views"
	cp "$data/sample.pfi" "$data/demo.pfi" "$views/"
}
# the_same HOST: its views have the bytes of this machine's
the_same() {
	local name differ=0 n=0
	while read -r name; do
		n=$((n + 1))
		cmp "$work/views/here/$name" "$work/views/$1/$name" || differ=$((differ + 1))
	done < <(cd "$work/views/here" && find . -type f | sort)
	[ "$(cd "$work/views/$1" && find . -type f | sort)" = "$(cd "$work/views/here" && find . -type f | sort)" ] || differ=$((differ + 1))
	printf '%-28s %d files, %d different\n' "$1: views" "$n" "$differ"
	failed=$((failed + differ))
}

here=$(scripts/build-analyze.sh)
fresh here
(cd "$views" && made_views "$here")
for host; do
	case $host in
	arm64)
		need_pkgs qemu-user-static
		there=$(scripts/build-analyze.sh aarch64-unknown-linux-musl)
		fresh arm64
		(cd "$views" && made_views qemu-aarch64-static "$there")
		the_same arm64
		;;
	windows) on_windows ;;
	*) die "unknown host '$host'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
echo "other hosts: $failed failed"
[ "$failed" = 0 ]
