#!/usr/bin/env bash
# musl.sh ARCH [--like-rustup]      prepare ARCH-unknown-linux-musl (aarch64 or x86_64), and print the folder: in it cc and sysroot/
#
#   --like-rustup   with a std that is fast and unwinds, for `analyze`; without, one for the agent (std.sh)
#
# All of it lies in one folder of the cache per architecture, compiler version and recipe: cargo does not notice when a sysroot
# changes, so a changed one must have another name. Used by scripts/build-agent.sh and scripts/build-analyze.sh.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
arch=$1 kind=${2:-} target=$1-unknown-linux-musl
recipe=$({ rustc -V; cat "$REPO"/ci/static/{musl-*,std,static-libs}.sh; echo "${PROFINFER_NO_RUSTUP:-}"; } | sha256sum | cut -c1-12)
dir=$CACHE/musl/$arch$kind-$recipe
prepare() {
	[ ! -e "$dir/ready" ] || return 0
	"$REPO/ci/static/musl-cc.sh" "$arch" "$dir"
	if ! "$REPO/ci/static/musl-std.sh" "$arch" "$dir" ${kind:+"$kind"}; then
		rust_target "$target" || die "there is no standard library for $target (see above)"
		[ -n "$kind" ] || note "with rustup's std instead: the agent is 240 kB larger"
		rm -rf "$dir/sysroot"
		mkdir -p "$dir/sysroot/lib/rustlib"
		cp -r "$(rustc --print sysroot)/lib/rustlib/$target" "$dir/sysroot/lib/rustlib/"
	fi
	touch "$dir/ready"
}
with_lock "musl-$arch$kind" prepare
echo "$dir"
