#!/usr/bin/env bash
# base.sh      make the image localhost/profinfer-cross-base from Debian packages, and print its name
#
# It stands for the image that `cross` would pull (ghcr.io/cross-rs/aarch64-unknown-linux-musl) where nothing can be pulled, or
# where everything in an image shall come from Debian: a compiler for the machine, and aarch64-linux-musl-gcc and -ar, which
# are clang and ar here. What is made of it, ci/cross/Dockerfile, is the same. Kept by podman; its tag tells the recipe.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/cross/podman.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
need_podman
need_pkgs debootstrap
image=localhost/profinfer-cross-base:$(cat "$0" "$REPO/ci/static/musl-cc.sh" | sha256sum | cut -c1-12)

make_base() {
	! podman image exists "$image" || return 0
	local work=$CACHE/cross/base mirror
	mirror=$(debian_mirror) || die "apt names no Debian mirror on this machine" "The image is made of Debian's packages."
	as_root rm -rf "$work"
	mkdir -p "$work/musl"
	say "the image's files, from Debian"
	as_root debootstrap --variant=minbase --include=ca-certificates,clang,gcc,libc6-dev,make,pkg-config bookworm "$work/root" "$mirror" >"$work/log" 2>&1 ||
		die "debootstrap could not make a Debian: $(tail -n 1 "$work/log")" "All of its output: $work/log"
	"$REPO/ci/static/musl-cc.sh" aarch64 "$work/musl"
	as_root mkdir -p "$work/root/opt/musl"
	as_root cp -r "$work/musl/root/usr/include" "$work/root/opt/musl/"
	# The tools' names in the image of cross
	sed "s|$work/musl/root/usr|/opt/musl|g" "$work/musl/cc" | as_root tee "$work/root/usr/local/bin/aarch64-linux-musl-gcc" >/dev/null
	as_root chmod +x "$work/root/usr/local/bin/aarch64-linux-musl-gcc"
	as_root ln -s /usr/bin/ar "$work/root/usr/local/bin/aarch64-linux-musl-ar"
	say "importing it into podman"
	as_root tar -C "$work/root" --exclude=./var/cache/apt/archives/*.deb -c . |
		podman import --change 'ENV CC_aarch64_unknown_linux_musl=aarch64-linux-musl-gcc' \
			--change 'ENV AR_aarch64_unknown_linux_musl=aarch64-linux-musl-ar' \
			--change 'ENV CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=aarch64-linux-musl-gcc' - "$image" >&2
	as_root rm -rf "$work"
}
with_lock cross-base make_base
echo "$image"
