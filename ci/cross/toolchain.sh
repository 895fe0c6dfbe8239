#!/usr/bin/env bash
# toolchain.sh      make a copy of this Rust toolchain that has the std of aarch64-unknown-linux-musl, and print its RUSTUP_HOME
#
# `cross` would have rustup add it to the toolchain of this machine, which stays as it is. Where rustup's server cannot be reached, the
# copy gets a std compiled here with the settings of rustup's, registered as rustup would do it.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
target=aarch64-unknown-linux-musl
sysroot=$(rustc --print sysroot)
[ -f "$sysroot/lib/rustlib/multirust-config.toml" ] || die "this Rust was not installed by rustup" "'cross' works with toolchains of rustup only."
recipe=$({ rustc -vV; echo "$sysroot"; cat "$0" "$REPO"/ci/static/musl-*.sh; } | sha256sum | cut -c1-12)
home=$CACHE/cross/rustup-$recipe
version=$(rustc -vV | sed -n 's/^release: //p')-$(rustc -vV | sed -n 's/^host: //p')

# register COMPONENT [TARGET]: enters it in rustup's lists of the copy
register() {
	local lists=$home/toolchains/$version/lib/rustlib
	printf '\n[[components]]\npkg = "%s"\n%sis_extension = false\n' "$1" "${2:+target = \"$2\"
}" >>"$lists/multirust-config.toml"
	echo "$1${2:+-$2}" >>"$lists/components"
	: >"$lists/manifest-$1${2:+-$2}"
}
add_by_rustup() {
	[ -z "${PROFINFER_NO_RUSTUP:-}" ] || return 1
	timeout 90 rustup target add --toolchain "$version" $target >"$CACHE/rustup.log" 2>&1 ||
		{ note "rustup could not add the std ($(tail -n 1 "$CACHE/rustup.log")); building it instead"; return 1; }
}
make_home() {
	[ ! -e "$home/ready" ] || return 0
	local copy=$home/toolchains/$version work=$CACHE/cross/std
	rm -rf "$home"
	mkdir -p "$copy"
	cp -a "$sysroot"/{bin,lib} "$copy/"
	if ! ls "$copy/lib/rustlib/$target/lib/"libcore-*.rlib >/dev/null 2>&1 && ! RUSTUP_HOME=$home add_by_rustup; then
		rm -rf "$work"
		"$REPO/ci/static/musl-cc.sh" aarch64 "$work"
		"$REPO/ci/static/musl-std.sh" aarch64 "$work" --like-rustup
		cp -a "$work/sysroot/lib/rustlib/$target" "$copy/lib/rustlib/"
		rm -rf "$work"
		register rust-std $target
	fi
	# cross 0.2.5 asks for rust-src where the std is there already, and does not use it.
	grep -q rust-src "$copy/lib/rustlib/components" || register rust-src
	# rustup marks the active toolchain as `(active, default)`. cross 0.2.5 does not understand that, takes the toolchain for a missing
	# one, and would have rustup update it. The active one is a link here, and the compiler says what it links to.
	RUSTUP_HOME=$home rustup -q toolchain link active "$copy" >&2
	RUSTUP_HOME=$home rustup -q default active >&2
	touch "$home/ready"
}
with_lock cross-toolchain make_home
echo "$home"
