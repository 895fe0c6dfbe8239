#!/usr/bin/env bash
# run.sh [--no-boards]      build the static agent with `cross`, by podman, and hold it against that of scripts/build-agent.sh
#
#   --no-boards   without the emulated boards
#
# The image that cross would pull is made here of Debian's packages (base.sh), and on top of it Cross.toml and ci/cross/Dockerfile are
# used as everywhere. Then: one static file, as large as the other to a twentieth, the same commands and options, and the boards of
# ci/board/matrix.sh traced by it. Needs root. Takes a quarter of an hour from nothing; the images are kept by podman.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/cross/podman.sh"
. "$REPO/ci/supply/tools.sh"
boards=1
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--no-boards) boards= ;;
'') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
cd "$REPO"
need_podman
need_tool cross
base=$(ci/cross/base.sh)
ci/cross/prepare.sh
say "cross build"
target=aarch64-unknown-linux-musl
# The compiler by its number: cross 0.2.5 does not understand the list of a newer rustup, and would update `stable` for everybody.
# The image takes the name of the one that would be pulled: an image of another name would be overwritten by what is made of it.
podman tag "$base" "ghcr.io/cross-rs/$target:$(tool_version cross)"
env -u RUSTFLAGS CARGO_TARGET_DIR="$CACHE/cross/target" \
	cross "+$(rustc -V | cut -d" " -f2)" build --release --features static --target $target -p profinfer-agent >&2 || die "cross could not build the agent"
crossed=$CACHE/cross/target/$target/release/profinfer-agent
own=$(scripts/build-agent.sh)

failed=0
# hold WHAT CONDITION...
hold() {
	local what=$1
	shift
	if "$@"; then echo "$what: ok"; else echo "$what: FAILED"; failed=$((failed + 1)); fi
}
static() { file -b "$1" | grep -q 'ARM aarch64.*\(statically\|static-pie\) linked'; }
as_large() { [ $((($1 - $2) * 20)) -le "$2" ] && [ $((($2 - $1) * 20)) -le "$2" ]; }
# What it says of itself, run by QEMU's emulation of processes.
says() {
	local command
	for command in --version --help "serve --help" "record --help" "engine --help" "doctor --help"; do
		# shellcheck disable=SC2086  # several words
		qemu-aarch64-static "$1" $command
	done
}
same_words() {
	need_pkgs qemu-user-static
	cmp <(says "$own") <(says "$crossed")
}
a=$(stat -c %s "$own") b=$(stat -c %s "$crossed")
echo "scripts/build-agent.sh: $a bytes; cross: $b bytes ($(awk -v a="$a" -v b="$b" 'BEGIN { printf "%+.2f %%", (b - a) * 100 / a }'))"
hold "one static file" static "$crossed"
hold "as large to a twentieth" as_large "$a" "$b"
hold "the same version and options" same_words
if [ -n "$boards" ]; then hold "traces on the emulated boards" env PROFINFER_STATIC_AGENT="$crossed" ci/board/matrix.sh; fi
echo "cross: $failed failed"
[ "$failed" = 0 ]
