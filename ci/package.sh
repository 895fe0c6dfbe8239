#!/usr/bin/env bash
# package.sh DIR      install the Debian packages and unpack the archives of a release (scripts/release.sh) in bare Debians, and try them
#
# Makes a chroot with debootstrap, with only Debian's minimal packages, man, bash-completion, zsh and fish. The
# packages must install with their dependencies, the programs must run and print the release's
# version, man must find the pages and the shells the completions, the doctor of the agent must work, and
# no file of a package may be left after it was removed. qemu-user runs the packages for arm64, wine the archive and the
# wheel for Windows.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
release=$(realpath "$1")
[ "$(id -u)" = 0 ] || die "a chroot needs root" "Run this as root."
need_pkgs debootstrap unzip
version=$(workspace_version)
arch=$(dpkg --print-architecture)
. "$REPO/ci/release/bare.sh"
bare_debian bookworm "$arch" man-db bash-completion zsh fish
# purged ARCH PACKAGES...: removes them; nothing of them is left
purged() {
	local left
	inside dpkg --purge "${@:2}" >"$work/log" 2>&1 || die "the packages for $1 cannot be removed: $(tail -n 1 "$work/log")"
	list >"$work/after"
	# what apt-get installed as needed may stay
	if left=$(comm -13 "$work/before" "$work/after" | grep -E 'profinfer|analyze'); then
		echo "left behind: $left"
		failed=$((failed + 1))
	fi
}
list() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./var -o -path ./tmp \) -prune -o -print | sort); }
list >"$work/before"

cp "$release"/profinfer-*_"$arch".deb "$root/tmp/"
say "installing $(cd "$root/tmp" && echo profinfer-*.deb)"
inside sh -c 'apt-get -qq update && apt-get install -y -qq --no-install-recommends /tmp/profinfer-*.deb' >"$work/log" 2>&1 ||
	{ tail -n 20 "$work/log" >&2; die "the packages do not install"; }
try "analyze --version" "^analyze $version" analyze --version
try "profinfer-agent --version" "^profinfer-agent $version" profinfer-agent --version
try "analyze agent" "^profinfer-agent $version" analyze agent --version
for program in analyze analyze-fleet profinfer-agent; do try_here "$program is static" "static" file -bL "$root/usr/bin/$program"; done
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
try "fish: options" "^--board" fish -c 'complete -C "analyze --bo"'
try "fish: commands of the agent" "^doctor" fish -c 'complete -C "profinfer-agent doc"'
for program in analyze profinfer-agent; do
	# shellcheck disable=SC2016
	try "zsh: $program" "^_$program of $program" zsh -f -c 'autoload -Uz compinit && compinit -u -d /tmp/zcompdump
		autoload +X "_$1" && print -r -- "$_comps[$1] of $1"' zsh "$program"
done
for package in profinfer-agent profinfer-analyze profinfer-analyze-fleet; do
	try "licence" "Apache License" cat "/usr/share/doc/$package/copyright"
done
for package in profinfer-agent profinfer-analyze; do
	# The LGPL of libelf, which is in the agents; lists of parts and notices name it both.
	try "notices of $package" "^## libelf" zcat -f "/usr/share/doc/$package/THIRD-PARTY.md" "/usr/share/doc/$package/THIRD-PARTY.md.gz"
done
try "documents" "^# " cat /usr/share/doc/profinfer-analyze/docs/deploy.md
try "documents by topic" "^# " cat /usr/share/doc/profinfer-analyze/docs/start/pi5.md
purged amd64 profinfer-analyze-fleet profinfer-analyze profinfer-agent
mkdir "$root/unpacked"
tar -C "$root/unpacked" -xzf "$release/profinfer-$version-x86_64-linux.tar.gz"
unpacked=/unpacked/profinfer-$version-x86_64-linux
try "archive: analyze demo" "gzip" "$unpacked/analyze" demo --out /tmp/demo
try "archive: analyze agent" "^profinfer-agent $version" "$unpacked/analyze" agent --version
try "archive: documents" "^# " cat "$unpacked/docs/start/pi5.md"

say "Debian for arm64"
bare_debian trixie arm64 python3 python3-venv # that of ci/wheel.sh
list >"$work/before"
cp "$release"/profinfer-*_arm64.deb "$root/tmp/"
inside sh -c 'dpkg -i /tmp/profinfer-*.deb' >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "the packages for arm64 do not install"; }
try "arm64: analyze --version" "^analyze $version" analyze --version
try "arm64: analyze demo" "gzip" analyze demo --out /tmp/demo
try "arm64: analyze agent" "^profinfer-agent $version" analyze agent --version
try "arm64: profinfer-agent" "^profinfer-agent $version" profinfer-agent --version
purged arm64 profinfer-analyze profinfer-agent
mkdir "$root/unpacked"
tar -C "$root/unpacked" -xzf "$release/profinfer-$version-aarch64-linux.tar.gz"
unpacked=/unpacked/profinfer-$version-aarch64-linux
try "arm64 archive: demo" "gzip" "$unpacked/analyze" demo --out /tmp/demo
try "arm64 archive: agent" "^profinfer-agent $version" "$unpacked/analyze" agent --version

say "Windows"
bare_debian trixie amd64 wine wine64 # that of ci/hosts.sh
unzip -q "$release/profinfer-$version-x86_64-windows.zip" -d "$root/unpacked"
# windows ARGS...: the program of the archive
windows() { inside WINEDEBUG=-all timeout 120 wine "/unpacked/profinfer-$version-x86_64-windows/analyze.exe" "$@"; }
inside WINEDEBUG=-all wineboot -i >/dev/null 2>&1 || die "wine does not start"
try_here "windows: analyze --version" "^analyze $version" windows --version
try_here "windows: analyze demo" "gzip" windows demo --out demo
try_here "windows: push finds an agent" "profinfer-agent-" windows push ssh pi@board --dry-run
mkdir "$root/wheel"
unzip -q "$release"/profinfer-*-win_amd64.whl -d "$root/wheel"
wheel=/$(cd "$root" && echo wheel/profinfer-*.data/scripts/analyze.exe)
try "windows wheel: version" "^analyze $version" WINEDEBUG=-all timeout 120 wine "$wheel" --version
try "windows wheel: demo" "gzip" WINEDEBUG=-all timeout 120 wine "$wheel" demo --out wheel-demo
inside wineserver -k >/dev/null 2>&1 || true
echo "packages and archives: $failed failed"
[ "$failed" = 0 ]
