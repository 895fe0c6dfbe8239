#!/usr/bin/env bash
# wheel.sh DIR [SUITE-ARCH...]      install the Python wheels of a release (scripts/release.sh) in bare Debians, and try them there
#
# In each system (default: bookworm-amd64 trixie-amd64 trixie-arm64) there are python3 and python3-venv, and nothing else: no
# compiler, no network. pip selects the wheel by its tags. `analyze demo` must answer within 10 seconds (five times in new
# environments; printed, and once, where an emulator runs it), the agents must be where `push` looks, and `pip uninstall` must leave nothing. Where no emulator is
# needed, uvx and pipx must start it, too.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
release=$(realpath "$1")
shift
[ "$(id -u)" = 0 ] || die "a chroot needs root" "Run this as root."
need_pkgs debootstrap
ensure_venv tools
installers=$CACHE/installers
"$VENV/bin/pip" download -q --disable-pip-version-check --only-binary :all: -d "$installers" -r "$REPO/scripts/requirements-installers.txt" >&2 ||
	die "pip could not fetch uv and pipx" "Is the Python package index reachable from here?"
version=$(workspace_version)
. "$REPO/ci/release/bare.sh"
apart=(unshare --net)
# by_installers: uvx and pipx, from the files alone
by_installers() {
	local wheel
	wheel=/wheels/$(basename "$release"/profinfer-*_"$(uname -m)".whl)
	cp -r "$installers" "$root/installers"
	inside python3 -m venv /i
	inside /i/bin/pip install -q --disable-pip-version-check --no-index --find-links /installers uv pipx
	try "uvx" "^analyze $version" /i/bin/uvx --offline --from "$wheel" analyze --version
	try "pipx install" "installed package profinfer" /i/bin/pipx install --pip-args "--no-index --find-links /installers" "$wheel"
	try "pipx: analyze demo" "gzip" /root/.local/bin/analyze demo --out /tmp/pipx
}
# first_answers: installs into a new environment and shows the demo, and prints the median times with the least and the most
first_answers() {
	local i begun installed runs=5 installs=() demos=()
	[ -z "$emulated" ] || runs=1
	for ((i = 0; i < runs; i++)); do
		rm -rf "$root/v"
		inside python3 -m venv /v
		begun=$(date +%s%N)
		inside /v/bin/pip install -q --disable-pip-version-check --no-index --find-links /wheels profinfer
		installed=$(date +%s%N)
		installs+=($(((installed - begun) / 1000000)))
		try "analyze demo" "gzip" /v/bin/analyze demo --out "/tmp/demo$i"
		demos+=($((($(date +%s%N) - installed) / 1000000)))
	done
	printf '%-28s installed in %s, demo in %s\n' "times" "$(middle "${installs[@]}")" "$(middle "${demos[@]}")"
	[ -n "$emulated" ] || [ "$(printf '%s\n' "${demos[@]}" | sort -n | tail -n 1)" -le 10000 ] || failed=$((failed + 1))
}
# middle MS…: the median, and from the least to the most
middle() { printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { printf "%d ms (%d to %d, %d runs)", v[int((NR + 1) / 2)], v[1], v[NR], NR }'; }
[ $# -gt 0 ] || set -- bookworm-amd64 trixie-amd64 trixie-arm64
for system; do
	say "$system"
	bare_debian "${system%-*}" "${system#*-}" python3 python3-venv
	mkdir "$root/wheels"
	cp "$release"/profinfer-*.whl "$root/wheels/"
	emulated=''
	[ "${system#*-}" = "$(dpkg --print-architecture)" ] || emulated=1
	first_answers
	try "analyze --version" "^analyze $version" /v/bin/analyze --version
	try "the agent here" "^profinfer-agent $version" /v/bin/analyze agent --version
	for arch in aarch64 x86_64; do try "agent for $arch" "^profinfer-agent-$arch" ls /v/lib/profinfer/agents; done
	try "push finds an agent" "/v/lib/profinfer/agents/profinfer-agent-" /v/bin/analyze push ssh pi@board --dry-run
	try "notices" "^## libelf" sh -c 'cat /v/lib/python3*/site-packages/profinfer-*.dist-info/licenses/THIRD-PARTY.md'
	try "documents" "^# " cat /v/share/doc/profinfer/docs/start/pi5.md
	inside /v/bin/pip uninstall -q -y profinfer
	left=$(cd "$root" && find v -type f \( -path '*profinfer*' -o -name 'analyze*' \))
	[ -z "$left" ] || { echo "left behind: $left"; failed=$((failed + 1)); }
	[ -n "$emulated" ] || by_installers
	umount "$root/proc" "$root/sys"
done
echo "wheels in bare Debians: $failed failed"
[ "$failed" = 0 ]
