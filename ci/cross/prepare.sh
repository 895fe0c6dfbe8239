#!/usr/bin/env bash
# prepare.sh      gather what ci/cross/Dockerfile copies into the image: target/cross/
#
# The sources of libelf and zlib come from cargo's own copy of the libbpf-sys crate, of the
# version in Cargo.lock, so that the image downloads nothing of its own choosing.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
src=$(cargo metadata --format-version 1 --locked | grep -o '[^"]*/libbpf-sys-[^/"]*/Cargo.toml' | head -n 1)
src=${src%/Cargo.toml}
if ! [ -d "$src/elfutils" ]; then
	echo "error: cargo has no sources of libbpf-sys (asked 'cargo metadata', got '$src')" >&2
	exit 1
fi
rm -rf target/cross
mkdir -p target/cross/libbpf-sys
cp -r "$src/elfutils" "$src/zlib" target/cross/libbpf-sys/
cp ci/static/static-libs.sh target/cross/
echo "==> target/cross is ready: cross build --release --features static --target aarch64-unknown-linux-musl -p profinfer-agent" >&2
