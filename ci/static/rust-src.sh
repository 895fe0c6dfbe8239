#!/usr/bin/env bash
# rust-src.sh      print the folder with the sources of Rust's standard library, of this rustc's version
#
# From the toolchain where it has them or rustup can add them, else from Debian's rust-src. The downloaded package is
# kept in the cache, since backports drop old versions in time.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac

own=$(rustc --print sysroot)/lib/rustlib/src/rust/library
if [ -z "${PROFINFER_NO_RUSTUP:-}" ] && [ ! -f "$own/Cargo.lock" ] && have rustup; then
	timeout 90 rustup component add rust-src >"$CACHE/rustup.log" 2>&1 || note "rustup could not add rust-src ($(tail -n 1 "$CACHE/rustup.log"))"
fi
if [ -f "$own/Cargo.lock" ]; then
	echo "$own"
	exit
fi
version=$(rustc -V | awk '{print $2}')
src=$CACHE/rust-src/$version
fetch() {
	[ ! -f "$src/library/Cargo.lock" ] || return 0
	local apt=$CACHE/rust-src/apt suite found
	mkdir -p "$src"
	if ! ls "$src"/rust-src_*.deb >/dev/null 2>&1; then
		for suite in trixie-backports forky sid; do
			say "sources of Rust $version's standard library: looking in Debian $suite"
			apt_private "$apt" "$suite"
			apt-get "${APT[@]}" update || continue
			found=$(apt-cache "${APT[@]}" madison rust-src |
				awk -F'|' -v v="$version" '{gsub(/ /, "", $2)} index($2, v "+") == 1 || index($2, v "-") == 1 {print $2; exit}')
			[ -n "$found" ] || continue
			(cd "$src" && apt-get "${APT[@]}" download "rust-src=$found" >&2) && break
		done
	fi
	ls "$src"/rust-src_*.deb >/dev/null 2>&1 ||
		die "no sources of Rust $version's standard library: Debian has other versions now" \
			"With rustup: 'rustup component add rust-src', or the target itself: 'rustup target add TARGET'."
	dpkg-deb --fsys-tarfile "$src"/rust-src_*.deb | tar -C "$src" -x --strip-components=4 --wildcards './usr/src/*/library'
}
with_lock rust-src fetch
echo "$src/library"
