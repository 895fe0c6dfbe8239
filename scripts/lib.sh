# shellcheck shell=bash
# Shared by every script in this folder: the cache, messages, Debian packages and
# Python tools. Sourced, never run. Progress goes to stderr, because stdout is the
# result of a script (a path, a table).

CACHE=${PROFINFER_CACHE:-$HOME/.cache/profinfer}
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CACHE REPO
: "${CARGO_TARGET_DIR:=$CACHE/target}"
export CARGO_TARGET_DIR
mkdir -p "$CACHE"

say() { printf '==> %s\n' "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }
die() {
	printf 'error: %s\n' "$1" >&2
	shift
	for line in "$@"; do printf '       %s\n' "$line" >&2; done
	exit 1
}

# The comment block at the head of a script is its help.
usage_from_head() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p;}' "$1"; }

have() { command -v "$1" >/dev/null 2>&1; }

# Run "$@" as root: directly, or through sudo.
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

os_id() { (. /etc/os-release 2>/dev/null && echo "${ID:-unknown}") || echo unknown; }

pkg_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# need_pkgs NAME...: install missing Debian packages. If none is missing, print
# nothing and do not use the network. NAME|OTHER accepts either.
need_pkgs() {
	local want missing=() ok alt
	have dpkg-query || die "this machine has no dpkg: packages needed: $*" \
		"Install their equivalents by hand, then run this again."
	for want in "$@"; do
		ok=
		for alt in ${want//|/ }; do pkg_installed "$alt" && ok=1; done
		[ -n "$ok" ] || missing+=("${want%%|*}")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] || have sudo || die "packages are missing, and installing them needs root: ${missing[*]}" \
		"Run this as root, or have someone run: apt-get install ${missing[*]}"
	say "installing ${#missing[@]} missing packages: ${missing[*]}"
	apt_get_update_once
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -oDPkg::Lock::Timeout=300 \
		"${missing[@]}" >"$CACHE/apt.log" 2>&1 ||
		die "apt-get could not install: ${missing[*]}" "$(tail -n 3 "$CACHE/apt.log")" "All of its output: $CACHE/apt.log"
}

apt_get_update_once() {
	[ -z "${APT_UPDATED:-}" ] || return 0
	as_root apt-get -qq update >"$CACHE/apt.log" 2>&1 ||
		note "apt-get update had problems (see $CACHE/apt.log); using the existing lists"
	APT_UPDATED=1
}

# The Debian mirror that apt of this machine uses. Fails on other systems than Debian.
debian_mirror() {
	local uri
	# shellcheck disable=SC2016  # apt expands these, not the shell
	uri=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		awk -F'|' '$1=="Debian" && $2=="Debian" {print $3; exit}')
	if [ -z "$uri" ] && [ "$(os_id)" = debian ]; then # no lists fetched yet: read the sources themselves
		uri=$({ cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list; } 2>/dev/null |
			awk '/^URIs:/ {print $2; exit} $1=="deb" {for (i=2; i<=NF; i++) if ($i ~ /^[a-z+]+:\//) {print $i; exit}}')
	fi
	[ -n "$uri" ] || return 1
	printf '%s\n' "${uri%/}"
}

# apt_private DIR SUITE...: set APT to the options of an apt-get with separate lists
# of those Debian suites in DIR, so that the system does not change.
apt_private() {
	local dir=$1 mirror suite
	shift
	mirror=$(debian_mirror) || die "apt names no Debian mirror on this machine" "Debian packages can be fetched on Debian only."
	[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || need_pkgs debian-archive-keyring
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	for suite in "$@"; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
	done >"$dir/sources.list"
	# shellcheck disable=SC2034  # for the caller
	APT=(-qq "-oDir::State::Lists=$dir/lists" "-oDir::Cache=$dir/cache" "-oDir::Etc::SourceList=$dir/sources.list"
		-oDir::Etc::SourceParts=/dev/null -oDir::State::status=/dev/null -oAPT::Architecture=amd64
		-oAcquire::Languages=none -oAcquire::Check-Valid-Until=false -oAPT::Sandbox::User=root
		-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
}

# apt_suite SUITE: set APT to an apt-get with that Debian suite. Its lists are shared, and renewed after ten hours
apt_suite() {
	local dir=$CACHE/apt/$1
	apt_private "$dir" "$1"
	with_lock "apt-$1" apt_renew "$dir" || die "apt-get could not read the lists of Debian's $1"
}
apt_renew() {
	[ -n "$(find "$1/lists" -maxdepth 1 -name '*_Packages*' -mmin -600 2>/dev/null)" ] || apt-get "${APT[@]}" update >&2
}

# with_lock NAME COMMAND...: run one COMMAND at a time, so that two scripts do not fill the same folder of the cache.
with_lock() {
	local name=$1
	shift
	mkdir -p "$CACHE/lock"
	if have flock; then
		(
			flock -n 9 || { note "waiting for another run that prepares $name"; flock 9; }
			"$@"
		) 9>"$CACHE/lock/$name"
	else "$@"; fi
}

# ensure_venv tools|tests|bench|notebook|release|zig: create the Python venv in the cache, with the pinned packages of that set.
VENV=$CACHE/venv
ensure_venv() {
	local req=("$REPO/scripts/requirements.txt") stamp=$VENV/.stamp-$1
	[ "$1" = tools ] || req+=("$REPO/scripts/requirements-$1.txt")
	[ -x "$VENV/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(cat "${req[@]}" | sha256sum)" ] && return 0
	have python3 || need_pkgs python3
	python3 -c 'import venv, ensurepip' 2>/dev/null || need_pkgs python3-venv
	with_lock venv make_venv "$stamp" "${req[@]}"
}
make_venv() {
	local stamp=$1 r args=()
	shift
	for r in "$@"; do args+=(-r "$r"); done
	say "Python packages of ${*#"$REPO/"}"
	[ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"
	"$VENV/bin/python" -m pip install -q --disable-pip-version-check "${args[@]}" >&2 ||
		die "pip could not install the packages of ${*#"$REPO/"}" "Is the Python package index reachable from here?"
	cat "$@" | sha256sum >"$stamp"
}

# workspace_version: the version of the packages
workspace_version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$REPO/Cargo.toml"; }

# musl_version SYSROOT TARGET: the version of its musl, from libc.a, for the list of parts (ci/release/sbom.sh)
musl_version() {
	grep -aoE '[[:cntrl:]]1\.[0-9]+\.[0-9]+[[:cntrl:]]' "$1/lib/rustlib/$2/lib/self-contained/libc.a" | tr -d '[:cntrl:]' | head -n 1
}

# rustflags_of SYSROOT: to build for a target with that sysroot, without paths of this machine in the file
rustflags_of() {
	echo "--sysroot=$1 --remap-path-prefix=$REPO=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src= --remap-path-prefix=$CARGO_TARGET_DIR=target"
}

# skip NAME REASON: report a skipped check, and count it as a line of the file that PROFINFER_SKIPS names. Fails with
# PROFINFER_REQUIRE=1. Rust tests do the same with ci/skip.
skip() {
	note "SKIPPED: $1: $2"
	[ -z "${PROFINFER_SKIPS:-}" ] || printf '%s: %s\n' "$1" "$2" >>"$PROFINFER_SKIPS"
	[ "${PROFINFER_REQUIRE:-}" != 1 ] || die "skipped, and with PROFINFER_REQUIRE=1 nothing may be: $1"
}

# have_bpf: can this user load BPF programs and attach uprobes? If not, print the reason on stdout.
have_bpf() {
	if [ "$(id -u)" != 0 ]; then
		local caps
		caps=$(awk '/^CapEff:/ {print $2}' /proc/self/status)
		# CAP_BPF is bit 39, CAP_PERFMON bit 38
		if [ $((0x$caps >> 38 & 3)) != 3 ]; then echo "not root, and without CAP_BPF and CAP_PERFMON"; return 1; fi
	fi
	[ -d /sys/bus/event_source/devices/uprobe ] || { echo "the kernel has no uprobe events (CONFIG_UPROBE_EVENTS)"; return 1; }
	local config
	config=$(zcat /proc/config.gz 2>/dev/null || cat "/boot/config-$(uname -r)" 2>/dev/null || true)
	if [ -n "$config" ] && ! grep -q '^CONFIG_BPF_EVENTS=y' <<<"$config"; then
		echo "the kernel was built without CONFIG_BPF_EVENTS"
		return 1
	fi
}

# rust_target TARGET: does the toolchain have std for TARGET, or can rustup add it now?
# (With PROFINFER_NO_RUSTUP=1 it acts as if not, to test the other way.)
rust_target() {
	[ -z "${PROFINFER_NO_RUSTUP:-}" ] || return 1
	! ls "$(rustc --print sysroot)/lib/rustlib/$1/lib/"libcore-*.rlib >/dev/null 2>&1 || return 0
	have rustup || return 1
	say "Rust's standard library for $1, from rustup"
	timeout 90 rustup target add "$1" >"$CACHE/rustup.log" 2>&1 ||
		{ note "rustup could not add it ($(tail -n 1 "$CACHE/rustup.log")); building it instead"; return 1; }
}
