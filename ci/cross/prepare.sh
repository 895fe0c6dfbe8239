#!/usr/bin/env bash
# prepare.sh      gather what ci/cross/Dockerfile copies into the image: target/cross/
#
# The sources of libelf and zlib come from cargo's own copy of the libbpf-sys crate, of the version in Cargo.lock, so that the image
# downloads nothing of its own choosing. The std is the one that scripts/build-agent.sh links, of this rustc, which cross uses too.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
cd "$REPO"
"$REPO/scripts/setup.sh"
src=$(cargo metadata --format-version 1 --locked | grep -o '[^"]*/libbpf-sys-[^/"]*/Cargo.toml' | head -n 1)
src=${src%/Cargo.toml}
[ -d "$src/elfutils" ] || die "cargo has no sources of libbpf-sys (asked 'cargo metadata', got '$src')"
musl=$(ci/static/musl.sh aarch64)
rm -rf target/cross
mkdir -p target/cross/libbpf-sys
cp -r "$src/elfutils" "$src/zlib" target/cross/libbpf-sys/
cp -r "$musl/sysroot" target/cross/
cp ci/static/static-libs.sh ci/static/no-unwinding.ld target/cross/
say "target/cross is ready: cross build --release --features static --target aarch64-unknown-linux-musl -p profinfer-agent"
