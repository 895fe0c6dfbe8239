#!/usr/bin/env bash
# no-std.sh      prove that profinfer-wire needs neither std nor an allocator: build it for bare metal
#
# The target is a Cortex-M4F: it has no operating system, so std does not exist for it. It is
# 32-bit, so code that assumes a 64-bit usize fails too. If rustup cannot add the target, builds
# core from source with the same compiler. The target has alloc, so the script searches for it by
# name.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
target=thumbv7em-none-eabihf
cd "$REPO"

# Neither itself nor through a crate it uses.
if cargo tree -p profinfer-wire --target "$target" -e features,no-dev,no-build,no-proc-macro --prefix none | grep -E 'feature "(std|alloc)"'; then
	die "profinfer-wire switches on the features above in its dependencies"
fi
if grep -rnE 'extern crate (alloc|std)\b' wire/src; then
	die "profinfer-wire may use neither alloc nor std (see the lines above)"
fi
args=(-p profinfer-wire --target "$target" --release)
if rust_target "$target"; then
	cargo build "${args[@]}" >&2
else
	src=$(ci/static/rust-src.sh)
	RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT="$src" CARGO_TARGET_DIR="$CARGO_TARGET_DIR/no-std" \
		cargo build "${args[@]}" -Zbuild-std=core >&2
fi
echo "profinfer-wire builds without std and alloc for $target"
