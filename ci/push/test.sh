#!/usr/bin/env bash
# test.sh      analyze push on an emulated board, each way, and every refusal
#
# ssh: the board's dropbear. adb: Android's own adbd, running on the board, and Debian's adb. hdc:
# ci/push/hdc, a stand-in that only knows the commands of hdc, because no package contains the real
# one. For each way: push, capture through the forwarded port, again, record to a file, stop. Then
# the errors of push (refusals.sh), and those of analyze for recordings that a link damaged
# (links.sh). What hdc does when boards vanish and when several are connected is tested without a
# board: host-analyzer/analyze/tests/oracle/push.rs.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
[ $# = 0 ] || { usage_from_head "$0"; exit; }
have adb || need_pkgs adb
have ssh || need_pkgs openssh-client
have python3 || need_pkgs python3
for f in check whole refusals links; do
	# shellcheck source=/dev/null
	. "$REPO/ci/push/$f.sh"
done
# shellcheck source=SCRIPTDIR/../../scripts/board/machine.sh
. "$REPO/scripts/board/machine.sh" # free_port

port=$(free_port 7930)
before_end() {
	push_ssh --stop >/dev/null 2>&1 || true
	[ -z "${ANDROID_ADB_SERVER_PORT:-}" ] || adb kill-server >/dev/null 2>&1 || true
	for p in "$dir"/hdc/rule.*; do [ ! -f "$p" ] || kill "$(cut -d' ' -f3 "$p")" 2>/dev/null || true; done
}
begin

agent=$("$REPO/scripts/build-agent.sh")
tests_build
analyze=$ANALYZE
boot --adb || die "the emulated board does not boot"
run=$CACHE/board/run/$(cut -d" " -f3 <<<"$board")

key=$CACHE/board/ssh/key
ssh_options="-p $(cat "$run/ssh-port") -i $key -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
adb_serial=127.0.0.1:$(cat "$run/adb-port")
# Keys and server of this test alone: a user's adb stays as it is.
export ADB_VENDOR_KEYS=$dir/adb ANDROID_ADB_SERVER_PORT=15037
mkdir -p "$dir/adb" "$dir/hdc" "$dir/bin" "$dir/state"
export XDG_STATE_HOME=$dir/state
ln -s "$REPO/ci/push/hdc" "$dir/bin/hdc"
export HDC_STATE=$dir/hdc HDC_SSH="ssh $ssh_options root@127.0.0.1"
hdc_key=7001005458323933328a
echo "$hdc_key Connected" >"$dir/hdc/targets"
export PATH=$dir/bin:$PATH

# shellcheck disable=SC2034  # interrupted reads them by their names
ssh_words=("$analyze" push ssh root@127.0.0.1 --ssh-options "$ssh_options" --port "$port")
adb_words=("$analyze" push adb "$adb_serial" --port "$port")
hdc_words=("$analyze" push hdc --port "$port") # the only one: it needs no key
push_ssh() { "${ssh_words[@]}" "$@"; }
push_adb() { "${adb_words[@]}" "$@"; }
push_hdc() { "${hdc_words[@]}" "$@"; }

whole ssh /tmp/profinfer -- /engine/nodes -m /model.gguf -t 2 -p 8 -n 4
check "ssh: a key instead of a forwarded port" keyed /tmp/profinfer
whole adb /data/local/tmp -- --name nodes
whole hdc /data/local/tmp
refusals
links

# shellcheck disable=SC2154  # check.sh's
printf '%s\n' "${rows[@]}" "analyze push: ${#rows[@]} checks in $SECONDS s, $failed failed"
[ "$failed" = 0 ]
