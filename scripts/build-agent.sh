#!/usr/bin/env bash
# build-agent.sh [--arch aarch64|x86_64] [--no-bench] [--no-direct] [--alone]      build the static agent for boards (default: aarch64), without Docker
#
# Makes one file that needs only a kernel on the board: musl, libelf and zlib are
# linked in. Prints its path. The first run also prepares the target (a minute or two). In a container, `cross` does the same:
# Cross.toml. --no-bench leaves out the measurement of ceilings, --no-direct the direct probes (sizes: docs/deploy.md). With --alone it
# builds ci/kills/alone instead: the direct probes without the rest, for tests.
set -eu
LARGEST=2500000
. "$(dirname "$0")/lib.sh"

# without FEATURE: leaves it out
without() {
	local feature left=()
	for feature in "${features[@]}"; do [ "$feature" = "$1" ] || left+=("$feature"); done
	features=("${left[@]}")
}

arch=aarch64 variant='' features=(bench direct) package=profinfer-agent
while [ $# -gt 0 ]; do
	case $1 in
	--arch) arch=${2:-}; shift 2 || die "--arch needs aarch64 or x86_64" ;;
	--no-bench | --no-direct) variant=$variant${1#-} && without "${1#--no-}"; shift ;;
	--alone) variant=-alone package=profinfer-direct-alone features=(); shift ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
case $arch in aarch64 | x86_64) ;; *) die "no static agent for '$arch'" "Known: aarch64, x86_64" ;; esac
"$REPO/scripts/setup.sh"
target=$arch-unknown-linux-musl

musl=$("$REPO/ci/static/musl.sh" "$arch")

cd "$REPO"
version=$(sed -n '/^name = "libbpf-sys"/{n;s/version = "\(.*\)"/\1/p;}' Cargo.lock)
libs=$musl/libbpf-sys-$version
if [ ! -f "$libs/lib/libz.a" ]; then
	say "libelf.a and libz.a for $target"
	CC="$musl/cc" ci/static/static-libs.sh "$libs"
fi

T=$(tr a-z- A-Z_ <<<"$target") t=${target//-/_}
# The agent aborts on a panic, so it needs no unwind tables. agent-static/build.rs omits those of C libraries.
# At a fixed address it needs no relocations, which would be 0.14 MB on x86-64. Functions with the same code become one.
rustflags="$(rustflags_of "$musl/sysroot") -Cforce-unwind-tables=no -Crelocation-model=static -Clink-arg=--icf=all"
export "CARGO_TARGET_${T}_LINKER=rust-lld" "CARGO_TARGET_${T}_RUSTFLAGS=$rustflags"
export "CC_$t=$musl/cc" "CFLAGS_$t=-I$libs/include" "LIBBPF_SYS_LIBRARY_PATH_$t=$libs/lib"
unset RUSTFLAGS
say "$package for $target"
cargo build --release --no-default-features --features "${features[*]}" --target "$target" -p "$package" >&2

out=$CACHE/out/$arch$variant/$package
mkdir -p "${out%/*}"
cp "$CARGO_TARGET_DIR/$target/release/$package" "$out"
kind=$(file -b "$out")
note "$kind"
case $kind in *"statically linked"* | *"static-pie linked"*) ;; *) die "this is not a static binary: $out" ;; esac
size=$(stat -c %s "$out")
note "$size bytes"
[ "$size" -le "$LARGEST" ] || die "the static agent has more than $LARGEST bytes: $out" "What it is to do without is in docs/deploy.md."
musl_version "$musl/sysroot" "$target" >"$out.musl"
echo "$out"
