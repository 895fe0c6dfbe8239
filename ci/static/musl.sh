#!/usr/bin/env bash
# musl.sh ARCH      prepare ARCH-unknown-linux-musl (aarch64 or x86_64), and print the folder: in it cc and sysroot/
#
# All of it lies in one folder of the cache per architecture, compiler version and recipe: cargo does not notice when a sysroot
# changes, so a changed one must have another name. Used by scripts/build-agent.sh.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
arch=$1 target=$1-unknown-linux-musl
recipe=$({ rustc -V; cat "$REPO"/ci/static/musl-*.sh "$REPO/ci/static/static-libs.sh"; echo "${PROFINFER_NO_RUSTUP:-}"; } | sha256sum | cut -c1-12)
dir=$CACHE/musl/$arch-$recipe
prepare() {
	[ ! -e "$dir/ready" ] || return 0
	"$REPO/ci/static/musl-cc.sh" "$arch" "$dir"
	if ! "$REPO/ci/static/musl-std.sh" "$arch" "$dir"; then
		rust_target "$target" || die "there is no standard library for $target (see above)"
		note "with rustup's std instead: the agent is 240 kB larger"
		rm -rf "$dir/sysroot"
		mkdir -p "$dir/sysroot/lib/rustlib"
		cp -r "$(rustc --print sysroot)/lib/rustlib/$target" "$dir/sysroot/lib/rustlib/"
	fi
	touch "$dir/ready"
}
with_lock "musl-$arch" prepare
echo "$dir"
