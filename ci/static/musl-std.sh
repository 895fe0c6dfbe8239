#!/usr/bin/env bash
# musl-std.sh ARCH DIR [--like-rustup]      make DIR/sysroot: Rust's std for ARCH-unknown-linux-musl, built from source
#
# std.sh compiles std, --like-rustup included. Here musl's crt objects, libc.a and LLVM's libunwind.a are put into
# self-contained/, where rustc looks for them. DIR is one that musl-cc.sh has filled.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
arch=$1 dir=$2
shift 2
target=$arch-unknown-linux-musl
lib=$dir/sysroot/lib/rustlib/$target/lib
self=$lib/self-contained
unwind=$dir/root/usr/lib/llvm-14/lib/libunwind.a
if [ ! -f "$unwind" ] && ! rust_target "$target"; then
	die "this machine has neither rustup's $target nor Debian's packages, whose musl std is linked with" \
		"Add the target with rustup on a machine that reaches it, or use cross (Cross.toml)."
fi
rm -rf "$dir/sysroot"
mkdir -p "$self"
if [ -f "$unwind" ]; then
	cp "$dir/root/usr/lib/$arch-linux-musl/"{*crt1.o,crt[in].o,lib*.a} "$self/"
	cp "$unwind" "$self/"
	# Debian's libunwind.a was compiled against glibc with fortification: its log messages call this.
	"$dir/cc" -Os -fPIC -c -x c -o "$dir/fortify.o" - <<'X'
#include <stdarg.h>
#include <stdio.h>
int __fprintf_chk(FILE *f, int flag, const char *fmt, ...)
{
	va_list a;
	va_start(a, fmt);
	int n = vfprintf(f, fmt, a);
	va_end(a);
	(void)flag;
	return n;
}
X
	ar rs "$self/libunwind.a" "$dir/fortify.o" 2>/dev/null
	echo '__attribute__((visibility("hidden"))) void *__dso_handle = 0;' | "$dir/cc" -fPIC -x c -c -o "$self/crtbegin.o" -
	: | "$dir/cc" -x c -c -o "$self/crtend.o" -
	cp "$self/crtbegin.o" "$self/crtbeginS.o"
	cp "$self/crtend.o" "$self/crtendS.o"
else
	cp "$(rustc --print sysroot)/lib/rustlib/$target/lib/self-contained/"* "$self/"
fi

rm -f "$dir/fortify.o"
"$REPO/ci/static/std.sh" "$target" "$dir" "$@"
