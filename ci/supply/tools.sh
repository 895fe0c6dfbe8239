# shellcheck shell=bash
# Tools of the supply chain and of a release, one version each, in $CACHE/tools. Sourced, after
# scripts/lib.sh.
#
# Compiled from crates.io without optimisation: they run for seconds, and optimising cargo-deny
# takes minutes.

tool_version() {
	case $1 in
	cargo-deny) echo 0.20.2 ;;
	cargo-vet) echo 0.10.3 ;;
	cargo-deb) echo 3.8.0 ;;
	cross) echo 0.2.5 ;;
	*) die "no tool '$1'" "ci/supply/tools.sh names those that there are." ;;
	esac
}

# need_tool NAME...: installs those that are missing or of another version, and puts them into PATH
need_tool() {
	local name
	for name; do with_lock "tool-$name" install_tool "$name"; done
	PATH=$CACHE/tools/bin:$PATH
}
install_tool() {
	local name=$1 version start=$SECONDS build=$CACHE/tools/build-$1
	version=$(tool_version "$name")
	[ "$(cat "$CACHE/tools/.$name" 2>/dev/null)" = "$version" ] && [ -x "$CACHE/tools/bin/$name" ] && return 0
	say "$name $version, from crates.io: some minutes"
	CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$build" RUSTFLAGS='' \
		cargo install -q --locked --debug --force --root "$CACHE/tools" --version "$version" "$name" >&2 ||
		die "cargo could not install $name $version" "Is crates.io reachable from here? 'cargo install --locked $name --version $version' says more."
	rm -rf "$build" # a gigabyte
	echo "$version" >"$CACHE/tools/.$name"
	note "$((SECONDS - start)) s"
}
