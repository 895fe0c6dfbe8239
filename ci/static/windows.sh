#!/usr/bin/env bash
# windows.sh      prepare x86_64-pc-windows-gnu, and print the folder: in it sysroot/
#
# mingw from Debian links; Rust's std is rustup's, else compiled from its sources. Used by scripts/build-analyze.sh.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
target=x86_64-pc-windows-gnu
recipe=$({ rustc -V; cat "$REPO"/ci/static/{windows,std}.sh; echo "${PROFINFER_NO_RUSTUP:-}"; } | sha256sum | cut -c1-12)
dir=$CACHE/windows/$recipe
prepare() {
	[ ! -e "$dir/ready" ] || return 0
	local lib=$dir/sysroot/lib/rustlib/$target/lib part
	rm -rf "$dir"
	mkdir -p "$lib"
	if rust_target "$target"; then
		cp -r "$(rustc --print sysroot)/lib/rustlib/$target/lib" "${lib%/*}/"
	else
		"$REPO/ci/static/std.sh" "$target" "$dir" --like-rustup
		# What every program of this target begins and ends with: it registers the tables for unwinding.
		for part in rsbegin rsend; do
			RUSTC_BOOTSTRAP=1 rustc --target "$target" --crate-type lib --emit obj -o "$lib/$part.o" "$("$REPO/ci/static/rust-src.sh")/rtstartup/$part.rs" ||
				die "$part.o of $target could not be compiled"
		done
	fi
	touch "$dir/ready"
}
need_pkgs gcc-mingw-w64-x86-64
with_lock windows prepare
echo "$dir"
