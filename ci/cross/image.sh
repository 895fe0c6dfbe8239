#!/bin/sh
# image.sh PREFIX      what ci/cross/Dockerfile runs in the image of `cross`: packages for the host, libelf.a and libz.a for the target
#
# The libraries are compiled by static-libs.sh, with $CC and $AR for the target, from the source packages of the image's distribution.
# The image is Ubuntu 20.04 (cross 0.2.5), or Debian (ci/cross/base.sh).
set -eu
prefix=$1
export DEBIAN_FRONTEND=noninteractive

# Images list binary packages only. Sources come from the same place.
set -- /etc/apt/sources.list /etc/apt/sources.list.d/*.list
for list; do [ ! -f "$list" ] || sed -n 's/^deb /deb-src /p' "$list"; done >/etc/apt/sources.list.d/source-packages.list
for list in /etc/apt/sources.list.d/*.sources; do
	[ ! -f "$list" ] || sed -i 's/^Types: *deb *$/Types: deb deb-src/' "$list"
done
apt-get update

# clang compiles the BPF programs (Ubuntu 20.04: 12, because its default is too old). The build script links libbpf for the
# host, which needs libelf and zlib.
clang=$(apt-cache show clang-12 >/dev/null 2>&1 && echo clang-12 || echo clang)
apt-get install -y --no-install-recommends "$clang" libelf-dev zlib1g-dev pkg-config make dpkg-dev
command -v clang >/dev/null || ln -s clang-12 /usr/bin/clang

work=$(mktemp -d)
cd "$work"
apt-get source -oAPT::Sandbox::User=root elfutils zlib
mv elfutils-*/ elfutils
mv zlib-*/ zlib
# elfutils 0.176 (Ubuntu 20.04) includes glibc's headers, which musl does not have and libelf does not need.
sed -i '/^#include <\(error\|sys\/cdefs\)\.h>/d; /^__\(BEGIN\|END\)_DECLS/d' elfutils/lib/*.h elfutils/libelf/elf.h
LIBBPF_SYS_SRC=$work sh "$(dirname "$0")/static-libs.sh" "$prefix"
cd /
rm -rf "$work" /var/lib/apt/lists/*
