#!/usr/bin/env bash
# pages.sh [PAGE…]      types the commands of docs/start's pages on devices: pi5, rk3588, phone
#
# The device is an emulated board with that device's names, its number of CPUs and Debian's llama-completion. Its ssh server is
# reached by the names of the page, through a configuration of ssh, as a user with sudo; adb is Android's; hdc is the stand-in of
# ci/push/hdc. Nothing but the engine's speed and what hardware alone has is different from the page: clocks, temperatures, counters.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
have adb || need_pkgs adb
have ssh || need_pkgs openssh-client
have python3 || need_pkgs python3
have aarch64-linux-gnu-gcc || need_pkgs gcc-aarch64-linux-gnu libc6-dev-arm64-cross
# shellcheck source=SCRIPTDIR/../../scripts/board/machine.sh
. "$REPO/scripts/board/machine.sh" # free_port

# Boards with another engine than those of other steps.
PROFINFER_BOARDS='' keep=''
export BOARD_ENGINE=debian
before_end() {
	[ -z "${ANDROID_ADB_SERVER_PORT:-}" ] || adb kill-server >/dev/null 2>&1 || true
	for p in "$dir"/hdc/rule.*; do [ ! -f "$p" ] || kill "$(cut -d' ' -f3 "$p")" 2>/dev/null || true; done
}
begin
[ "$(free_port 7817)" = 7817 ] || die "another program listens at port 7817 of this machine, which the pages use" "ss -ltnp 'sport = :7817'"

tests_build
agent=$("$REPO/scripts/build-agent.sh")
mkdir -p "$dir/bin" "$dir/agents" "$dir/state" "$dir/adb" "$dir/hdc"
export XDG_STATE_HOME=$dir/state PATH=$dir/bin:$PATH PROFINFER_AGENTS=$dir/agents PROFINFER_CEILINGS=
ln -s "$ANALYZE" "$dir/bin/analyze"
ln -s "$agent" "$dir/agents/profinfer-agent-aarch64"
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$dir/ssh_config" >"$dir/ssh"

# device NAME OPTIONS…: boots it, and puts onto it what a reader of the pages has
device() {
	say "$1"
	boot "${@:2}" || die "the emulated board does not boot"
	run=$CACHE/board/run/$(cut -d" " -f3 <<<"$board")
	$board tools
	rm -rf "$dir/work"
	mkdir "$dir/work"
}
# user NAME HOST: a user of it with sudo, and its host name
user() {
	aarch64-linux-gnu-gcc -O2 -Wall -static -o "$dir/sudo" "$REPO/ci/push/sudo.c"
	$board put "$dir/sudo" /bin/sudo
	$board run "chmod 4755 /bin/sudo; echo '$1::1000:1000::/home/$1:/bin/sh' >>/etc/passwd; mkdir -p /home/$1/.ssh; cp /root/.ssh/authorized_keys /home/$1/.ssh/
		chown -R 1000 /home/$1; chmod 755 /home; chmod -R go-w /home/$1; chmod 700 /home/$1/.ssh"
	cat >"$dir/ssh_config" <<-X
		Host $2
		  HostName 127.0.0.1
		  Port $(cat "$run/ssh-port")
		  IdentityFile $CACHE/board/ssh/key
		  IdentitiesOnly yes
		  StrictHostKeyChecking no
		  UserKnownHostsFile /dev/null
		  LogLevel ERROR
	X
	install -m 755 "$dir/ssh" "$dir/bin/ssh"
}
# page NAME PROFILE [NAME=VALUE…]
page() {
	local replace=() pair
	for pair in "${@:3}"; do replace+=(--replace "$pair"); done
	(cd "$dir/work" && python3 -B "$REPO/ci/push/pages.py" "$REPO/docs/start/$1.md" --on "$board run" --get "$board get" --profile "$2" "${replace[@]}")
	rm -f "$dir/bin/ssh"
	switch_off
}

page_pi5() {
	device pi5 --device pi5
	user pi raspberrypi.local
	# As an archive of a release has them
	$board run "mkdir -p /opt/profinfer/agents; ln -s /opt/profinfer/analyze /bin/analyze"
	$board put "$("$REPO/scripts/build-analyze.sh" aarch64-unknown-linux-musl)" /opt/profinfer/analyze
	$board put "$agent" /opt/profinfer/agents/profinfer-agent-aarch64
	page pi5 bcm2712
}
page_rk3588() {
	device rk3588 --device orangepi5 --big-little --cpus 8
	user orangepi BOARD
	page rk3588 rk3588
}
page_phone() {
	device phone --adb
	# Keys and server of this test alone: a user's adb stays as it is.
	export ADB_VENDOR_KEYS=$dir/adb ANDROID_ADB_SERVER_PORT=15038
	local serial
	serial=127.0.0.1:$(cat "$run/adb-port")
	ln -s "$REPO/ci/push/hdc" "$dir/bin/hdc"
	export HDC_STATE=$dir/hdc HDC_SSH
	HDC_SSH="ssh -p $(cat "$run/ssh-port") -i $CACHE/board/ssh/key -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@127.0.0.1"
	echo "7001005458323933328a Connected" >"$dir/hdc/targets"
	$board run "mkdir -p /data/local/tmp; for d in /data /data/local/tmp; do ln -s /engine/llama-completion /model.gguf \$d/; done"
	adb connect "$serial" >/dev/null
	page phone generic-aarch64 SERIAL="$serial"
}

[ $# -gt 0 ] || set -- pi5 rk3588 phone
for name; do
	declare -F "page_$name" >/dev/null || die "there is no page '$name'" "$(usage_from_head "$0" | head -n 1)"
done
for name; do "page_$name"; done
note "the commands of all pages ran: $*"
