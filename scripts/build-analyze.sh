#!/usr/bin/env bash
# build-analyze.sh [--fleet] [TARGET]      build analyze for hosts of a kind (default: this machine's Linux), without Docker
#
#   --fleet      analyze-fleet in its place; on Linux only
#
#   x86_64-unknown-linux-musl, aarch64-unknown-linux-musl     static: every Linux, glibc or not
#   x86_64-pc-windows-gnu                                     Windows 10 and later
#   aarch64-apple-darwin                                      macOS; untested, since nothing here can run it
#
# Makes one file that needs nothing of the builder's system. Prints its path. The first run also prepares the target (a minute or
# two). Only for releases: on this machine, `cargo build` is enough.
set -eu
. "$(dirname "$0")/lib.sh"
program=analyze manifest=Cargo.toml package=analyze
if [ "${1:-}" = --fleet ]; then
	program=analyze-fleet manifest=fleet/Cargo.toml package=profinfer-fleet
	shift
fi
target=${1:-$(uname -m)-unknown-linux-musl}
case $target in
-h | --help) usage_from_head "$0"; exit ;;
x86_64-unknown-linux-musl | aarch64-unknown-linux-musl)
	dir=$("$REPO/ci/static/musl.sh" "${target%%-*}" --like-rustup)
	cc=$dir/cc linker=rust-lld suffix=''
	;;
x86_64-pc-windows-gnu)
	dir=$("$REPO/ci/static/windows.sh")
	cc=x86_64-w64-mingw32-gcc linker=$cc suffix=.exe
	;;
aarch64-apple-darwin)
	dir=$("$REPO/ci/static/macos.sh" "${target%%-*}")
	cc=$dir/cc linker=$cc suffix=''
	;;
*) die "analyze is not built for '$target'" "$(usage_from_head "$0" | sed -n '5,7p')" ;;
esac
cd "$REPO"
T=$(tr a-z- A-Z_ <<<"$target")
# zstd is C, and ring of analyze-fleet.
export "CC_${target//-/_}=$cc"
export "CARGO_TARGET_${T}_LINKER=$linker"
export "CARGO_TARGET_${T}_RUSTFLAGS=$(rustflags_of "$dir/sysroot")"
unset RUSTFLAGS
say "$program for $target"
cargo build --locked --profile host --target "$target" --manifest-path "$manifest" -p "$package" >&2
out=$CACHE/out/$target/$program$suffix
mkdir -p "${out%/*}"
cp "$CARGO_TARGET_DIR/$target/host/$program$suffix" "$out"
case $target in *-musl) musl_version "$dir/sysroot" "$target" >"$out.musl" ;; esac
note "$(file -b "$out")"
note "$(stat -c %s "$out") bytes"
echo "$out"
