#!/usr/bin/env bash
# wheel.sh DIR [SUITE-ARCH...]      install the Python wheels of a release (scripts/release.sh) in bare Debians, and try them there
#
# In each system (default: bookworm-amd64 trixie-amd64 trixie-arm64) there are python3 and python3-venv, and nothing else: no
# compiler, no network. pip selects the wheel by its tags. `analyze demo` must answer within 10 seconds (printed, and a failure
# where no emulator runs it), the agents must be where `push` looks, and `pip uninstall` must leave nothing.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
release=$(realpath "$1")
shift
[ "$(id -u)" = 0 ] || die "a chroot needs root" "Run this as root."
need_pkgs debootstrap
version=$(workspace_version)
. "$REPO/ci/release/bare.sh"
apart=(unshare --net)
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
	umount "$root/proc" "$root/sys"
done
echo "wheels in bare Debians: $failed failed"
[ "$failed" = 0 ]
