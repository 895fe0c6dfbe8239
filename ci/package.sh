#!/usr/bin/env bash
# package.sh DIR      install the Debian packages of a release (scripts/release.sh) in a bare Debian, and try them there
#
# Makes a chroot with debootstrap, with only Debian's minimal packages, man and bash-completion. The
# packages must install with their dependencies, the programs must run and print the release's
# version, man must find the pages and bash the completions, the doctor of the agent must work, and
# removing the packages must leave nothing behind.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
release=$(realpath "$1")
[ "$(id -u)" = 0 ] || die "a chroot needs root" "Run this as root."
need_pkgs debootstrap
version=$(workspace_version)
arch=$(dpkg --print-architecture)
. "$REPO/ci/release/bare.sh"
bare_debian bookworm "$arch" man-db bash-completion
list() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./var -o -path ./tmp \) -prune -o -print | sort); }
list >"$work/before"

cp "$release"/profinfer-*_"$arch".deb "$root/tmp/"
say "installing $(cd "$root/tmp" && echo profinfer-*.deb)"
inside sh -c 'apt-get -qq update && apt-get install -y -qq --no-install-recommends /tmp/profinfer-*.deb' >"$work/log" 2>&1 ||
	{ tail -n 20 "$work/log" >&2; die "the packages do not install"; }
try "analyze --version" "^analyze $version" analyze --version
try "profinfer-agent --version" "^profinfer-agent $version" profinfer-agent --version
try "analyze agent" "^profinfer-agent $version" analyze agent --version
try "analyze fleet" "^analyze-fleet $version" analyze fleet --version
try "analyze boards" rk3588 analyze boards
try "analyze demo" "gzip" analyze demo --out /tmp/demo
try "agents for push" "^profinfer-agent-aarch64" ls /usr/lib/profinfer/agents
try "agent doctor" "kernel" profinfer-agent doctor
try "man analyze" "language model" man -P cat analyze
try "man profinfer-agent-serve" "listen" man -P cat profinfer-agent-serve
# shellcheck disable=SC2016  # the shell in there expands it
try "completion of analyze" "--board" bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader analyze
	COMP_WORDS=(analyze --bo) COMP_CWORD=1; _analyze analyze --bo analyze; printf "%s\n" "${COMPREPLY[@]}"'
# shellcheck disable=SC2016
try "completion of the agent" "^doctor" bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader profinfer-agent
	[[ $(complete -p profinfer-agent) =~ -F\ ([^ ]+) ]]
	COMP_WORDS=(profinfer-agent doc) COMP_CWORD=1; ${BASH_REMATCH[1]} profinfer-agent doc profinfer-agent; printf "%s\n" "${COMPREPLY[@]}"'
for package in profinfer-agent profinfer-analyze profinfer-analyze-fleet; do
	try "licence" "Apache License" cat "/usr/share/doc/$package/copyright"
done
for package in profinfer-agent profinfer-analyze; do
	# The LGPL of libelf, which is in the agents; lists of parts and notices name it both.
	try "notices of $package" "^## libelf" zcat -f "/usr/share/doc/$package/THIRD-PARTY.md" "/usr/share/doc/$package/THIRD-PARTY.md.gz"
done
inside dpkg --purge profinfer-analyze-fleet profinfer-analyze profinfer-agent >"$work/log" 2>&1 || die "the packages cannot be removed: $(tail -n 1 "$work/log")"
list >"$work/after"
# what apt-get installed as needed may stay
if left=$(comm -13 "$work/before" "$work/after" | grep -E 'profinfer|analyze'); then
	echo "left behind: $left"
	failed=$((failed + 1))
fi
echo "packages in a bare Debian: $failed failed"
[ "$failed" = 0 ]
