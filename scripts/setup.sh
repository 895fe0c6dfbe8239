#!/usr/bin/env bash
# setup.sh [--tests | --all-tests]      install what the build needs; takes a second if nothing is missing
#
#   --tests   also what scripts/test.sh needs: shellcheck, headless Chromium, Python readers
#   --all-tests   also what scripts/test.sh --all needs: compilers for arm64 and for engines, adb, Mesa
#
# Installs Debian and Ubuntu packages with apt-get (as root, or through sudo). Only checks
# for Rust, unless the distribution packages rustup. Python packages go into a separate
# venv in the cache (~/.cache/profinfer, or $PROFINFER_CACHE).
set -eu
. "$(dirname "$0")/lib.sh"

tests='' all=''
for arg; do
	case $arg in
	--tests) tests=tests ;;
	--all-tests) tests=tests all=1 ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$arg'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done

BUILD_PACKAGES=(clang gcc g++ libc6-dev make 'pkg-config|pkgconf' libelf-dev zlib1g-dev
	file git ca-certificates)
TEST_PACKAGES=(shellcheck graphviz openssh-client procps python3 tmux)
# The steps install what they need. Installing everything at once takes a third of the time.
ALL_TEST_PACKAGES=(cmake ninja-build bzip2 g++-aarch64-linux-gnu libc6-dev-arm64-cross binutils-aarch64-linux-gnu adb
	mesa-vulkan-drivers libvulkan1 'default-jre-headless|openjdk-17-jre-headless|openjdk-21-jre-headless')

# The minimum Rust version of the workspace, from Cargo.toml.
rust_needed=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$REPO/Cargo.toml")

check_rust() {
	local how="Install Rust $rust_needed or newer, for example with rustup (https://rustup.rs), then run this again."
	if ! have cargo && [ -x "$HOME/.cargo/bin/cargo" ]; then PATH=$HOME/.cargo/bin:$PATH; fi
	if ! have cargo; then
		apt_get_update_once
		[ -n "$(apt-cache madison rustup 2>/dev/null)" ] || die "there is no cargo here, and this distribution does not package rustup" "$how"
		need_pkgs rustup
		say "Rust, with rustup"
		rustup default stable >&2 || die "rustup could not fetch a toolchain" "$how"
	fi
	local have_version
	have_version=$(rustc -V 2>/dev/null | awk '{print $2}')
	[ -n "$have_version" ] || die "cargo is here, but 'rustc -V' does not answer" "$how"
	[ "$(printf '%s\n' "$rust_needed" "$have_version" | sort -V | head -n 1)" = "$rust_needed" ] ||
		die "Rust $have_version is too old, this project needs $rust_needed" "$how"
	rust=$have_version
}

# A clang can be built without the BPF target.
check_clang() {
	: | clang -target bpf -mcpu=v3 -x c -c -o /dev/null - 2>/dev/null ||
		die "clang is here, but cannot compile for BPF" "Install the distribution's own clang, 11 or newer, and put it first in PATH."
}

# The packages that build the report page and read it in the browser, pinned by the lockfile.
report_packages() {
	local dir=$CACHE/report lock=$REPO/host-analyzer/views/page/package-lock.json
	if [ -d "$dir/node_modules" ] && cmp -s "$lock" "$dir/package-lock.json"; then return; fi
	say "packages of the report's page (npm)"
	mkdir -p "$dir"
	cp "$REPO/host-analyzer/views/page/package.json" "$dir/"
	(cd "$dir" && cp "$lock" package-lock.json && npm ci --no-audit --no-fund --ignore-scripts --silent >&2) || {
		rm -rf "$dir"
		die "npm could not install the packages of host-analyzer/views/page" "Check the network and 'npm ping', then run this again."
	}
}

packages=("${BUILD_PACKAGES[@]}")
[ -z "$tests" ] || packages+=("${TEST_PACKAGES[@]}")
[ -z "$all" ] || packages+=("${ALL_TEST_PACKAGES[@]}")
need_pkgs "${packages[@]}"
check_clang
check_rust
ensure_venv "${tests:-tools}"
if [ -n "$tests" ]; then
	if ! have chromium && ! have chromium-browser && ! have google-chrome; then
		apt_get_update_once
		# Ubuntu's `chromium` is a wrapper around a snap, which does not run everywhere
		if [ "$(os_id)" = debian ]; then need_pkgs chromium
		else note "no Chromium: the test that opens report.html needs one in PATH"; fi
	fi
	have npm || need_pkgs nodejs npm
	report_packages
fi
say "setup: ready (Rust $rust, $(clang --version | sed -n '1s/.*clang version \([0-9.]*\).*/clang \1/p'), cache $CACHE)"
