#!/usr/bin/env bash
# wheel.sh DIR [SUITE-ARCH...]      install the Python wheels of a release (scripts/release.sh) in bare Debians, and try them there
#
# In each system (default: bookworm-amd64 trixie-amd64 trixie-arm64) there are python3 and python3-venv, and nothing else: no
# compiler, no network. pip selects the wheel by its tags. `analyze demo` must answer within 10 seconds (printed, and a failure
# where no emulator runs it), the agents must be where `push` looks, and `pip uninstall` must leave nothing. Where no emulator is
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
[ $# -gt 0 ] || set -- bookworm-amd64 trixie-amd64 trixie-arm64
for system; do
	say "$system"
	bare_debian "${system%-*}" "${system#*-}" python3 python3-venv
	mkdir "$root/wheels"
	cp "$release"/profinfer-*.whl "$root/wheels/"
	inside python3 -m venv /v
	begun=$(date +%s%N)
	inside /v/bin/pip install -q --disable-pip-version-check --no-index --find-links /wheels profinfer
	installed=$(date +%s%N)
	try "analyze --version" "^analyze $version" /v/bin/analyze --version
	shown=$(date +%s%N)
	try "analyze demo" "gzip" /v/bin/analyze demo --out /tmp/demo
	took=$((($(date +%s%N) - shown) / 1000000))
	printf '%-28s installed in %d ms, demo in %d ms\n' "times" "$(((installed - begun) / 1000000))" "$took"
	[ "$took" -le 10000 ] || [ "${system#*-}" != "$(dpkg --print-architecture)" ] || failed=$((failed + 1))
	try "the agent here" "^profinfer-agent $version" /v/bin/analyze agent --version
	for arch in aarch64 x86_64; do try "agent for $arch" "^profinfer-agent-$arch" ls /v/lib/profinfer/agents; done
	try "push finds an agent" "/v/lib/profinfer/agents/profinfer-agent-" /v/bin/analyze push ssh pi@board --dry-run
	try "notices" "^## libelf" sh -c 'cat /v/lib/python3*/site-packages/profinfer-*.dist-info/licenses/THIRD-PARTY.md'
	try "documents" "^# " cat /v/share/doc/profinfer/docs/start/pi5.md
	inside /v/bin/pip uninstall -q -y profinfer
	left=$(cd "$root" && find v -type f \( -path '*profinfer*' -o -name 'analyze*' \))
	[ -z "$left" ] || { echo "left behind: $left"; failed=$((failed + 1)); }
	[ "${system#*-}" != "$(dpkg --print-architecture)" ] || by_installers
	umount "$root/proc" "$root/sys"
done
echo "wheels in bare Debians: $failed failed"
[ "$failed" = 0 ]
