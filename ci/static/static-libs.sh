#!/bin/sh
# static-libs.sh PREFIX      compile libelf.a and libz.a for whatever machine $CC makes code for
#
# From sources of elfutils and zlib: no configure, no autotools, a few seconds. (`vendored-libelf` of the libbpf-sys
# crate does not configure on musl.) scripts/build-agent.sh compiles the sources in the libbpf-sys crate, ci/cross/Dockerfile those
# of the image's distribution (elfutils 0.176 or newer).
#
#   CC               required: one executable
#   AR, CFLAGS       defaults: ar, -Os -ffunction-sections -fdata-sections
#   LIBBPF_SYS_SRC   folder with the sources in elfutils/ and zlib/ (default: that of the libbpf-sys crate)
set -eu
case ${1:---help} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
prefix=$1
: "${CC:?set CC to the C compiler for the target}"
AR=${AR:-ar}
CFLAGS=${CFLAGS:--Os -ffunction-sections -fdata-sections}
src=${LIBBPF_SYS_SRC:-}
if [ -z "$src" ]; then
	src=$(cargo metadata --format-version 1 --locked | grep -o '[^"]*/libbpf-sys-[^/"]*/Cargo.toml' | head -n 1)
	src=${src%/Cargo.toml}
fi
elf=$src/elfutils
if ! [ -f "$elf/libelf/libelfP.h" ] || ! [ -f "$src/zlib/zlib.h" ]; then
	echo "error: no sources of elfutils and zlib in '$src'" >&2
	exit 1
fi

work=$prefix/build
rm -rf "$work"
mkdir -p "$work/elf" "$work/z" "$prefix/lib" "$prefix/include"
# What elfutils' configure would have found out about musl.
cat >"$work/config.h" <<'X'
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#include <stdlib.h>
#define HAVE_ERR_H 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_RAWMEMCHR 0
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_REALLOCARRAY 0
#define reallocarray eu_reallocarray    /* old musl has none: use system.h's own */
#define HAVE_FALLTHROUGH 1
#define HAVE_MREMAP 1
#define HAVE_VISIBILITY 1
#define PACKAGE_NAME "elfutils"
#include <eu-config.h>
X
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# compile FOLDER SOURCE_FOLDER FLAGS...   (CC and CFLAGS are lists of words)
compile() {
	out=$1 from=$2
	shift 2
	# shellcheck disable=SC2086
	(cd "$out" && printf '%s\n' "$from"/*.c | xargs -P "$jobs" -n 8 $CC $CFLAGS "-ffile-prefix-map=$src=." -fPIC -w "$@" -c)
}
compile "$work/elf" "$elf/libelf" -std=gnu99 -DHAVE_CONFIG_H "-I$work" "-I$elf/libelf" "-I$elf/lib" "-I$src/zlib"
compile "$work/z" "$src/zlib" -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -DHAVE_UNISTD_H "-I$src/zlib"
rm -f "$prefix/lib/libelf.a" "$prefix/lib/libz.a"
"$AR" rcs "$prefix/lib/libelf.a" "$work"/elf/*.o
"$AR" rcs "$prefix/lib/libz.a" "$work"/z/*.o
cp "$elf/libelf/libelf.h" "$elf/libelf/gelf.h" "$elf/libelf/elf.h" "$src/zlib/zlib.h" "$src/zlib/zconf.h" "$prefix/include/"
rm -rf "$work"
