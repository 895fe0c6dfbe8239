#!/usr/bin/env bash
# std.sh TARGET DIR [--like-rustup]      compile Rust's std for TARGET into DIR/sysroot, from the sources of the very same version
#
#   --like-rustup   with the settings of the std that `rustup target add` brings: fast rather than small, unwinds, prints backtraces
#
# For machines that cannot add the target by rustup, and for the agent: the std of rustup unwinds, and can name the functions of
# a backtrace from debug information, which is 240 kB of an agent that aborts and has neither. Takes about a minute on two cores.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
target=$1 dir=$2 like_rustup=
case ${3:-} in --like-rustup) like_rustup=1 ;; '') ;; *) die "unknown argument '$3'" "$(usage_from_head "$0" | head -n 1)" ;; esac
lib=$dir/sysroot/lib/rustlib/$target/lib
src=$("$REPO/ci/static/rust-src.sh")
say "building Rust's standard library for $target"
mkdir -p "$lib"

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
rm -rf "$lib"/libempty-*.rlib "$build"
