#!/usr/bin/env bash
# musl-std.sh ARCH DIR [--like-rustup]      make DIR/sysroot: Rust's std for ARCH-unknown-linux-musl, built from source
#
#   --like-rustup   with the settings of the std that `rustup target add` brings: fast rather than small, unwinds, prints backtraces
#
# std compiled from rust-src of the very same version, with musl's crt objects, libc.a and LLVM's libunwind.a in
# self-contained/, where rustc looks for them. Not what `rustup target add` brings, because that one unwinds, and can name the
# functions of a backtrace from debug information: 240 kB of an agent that aborts and has neither. DIR is one that musl-cc.sh
# has filled. Takes about a minute on two cores.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
arch=$1 dir=$2 like_rustup=
case ${3:-} in --like-rustup) like_rustup=1 ;; '') ;; *) die "unknown argument '$3'" "$(usage_from_head "$0" | head -n 1)" ;; esac
target=$arch-unknown-linux-musl
lib=$dir/sysroot/lib/rustlib/$target/lib
self=$lib/self-contained
unwind=$dir/root/usr/lib/llvm-14/lib/libunwind.a
if [ ! -f "$unwind" ] && ! rust_target "$target"; then
	die "this machine has neither rustup's $target nor Debian's packages, whose musl std is linked with" \
		"Add the target with rustup on a machine that reaches it, or use cross (Cross.toml)."
fi
src=$("$REPO/ci/static/rust-src.sh")

say "building Rust's standard library for $target"
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

build=$dir/std
mkdir -p "$build/src"
: >"$build/src/lib.rs"
if [ -n "$like_rustup" ]; then
	opt_level=3 panic=unwind features=() flags=()
	# The build of rustc compiles this one crate for abort, and the rest for unwinding.
	cat >"$build/rustc" <<'X'
#!/bin/sh
rustc=$1
shift
case " $* " in *" --crate-name panic_abort "*) set -- "$@" -Cpanic=abort ;; esac
exec "$rustc" "$@"
X
	chmod +x "$build/rustc"
	export RUSTC_WRAPPER=$build/rustc
else
	# For a small file, as the agent itself: panic=abort, no tables for unwinding, and not std's feature `backtrace`, which could
	# name no function of a stripped file.
	opt_level='"s"' panic=abort features=(-Zbuild-std-features=) flags=(-Cforce-unwind-tables=no)
fi
cat >"$build/Cargo.toml" <<X
[package]
name = "empty"
version = "0.0.0"
edition = "2021"
[workspace]
[profile.release]
opt-level = $opt_level
codegen-units = 1
debug = 0
panic = "$panic"
X
# -Z build-std is unstable: RUSTC_BOOTSTRAP lets a stable compiler do it for this one build.
(cd "$build" && RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT="$src" CARGO_TARGET_DIR="$build/target" \
	RUSTFLAGS="-Cembed-bitcode=yes ${flags[*]} --remap-path-prefix=$src=/rust/library --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=" \
	cargo build -q --release -Zbuild-std=std,panic_abort "${features[@]}" --target "$target" >&2) ||
	die "Rust's standard library could not be built for $target"
cp "$build/target/$target/release/deps/"lib*.rlib "$lib/"
rm -rf "$lib"/libempty-*.rlib "$build" "$dir/fortify.o"
