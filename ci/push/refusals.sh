# shellcheck shell=bash disable=SC2034,SC2154  # for and from ci/push/test.sh
# Makes each error happen, and checks the message of push: what it tried, the answer, what to do.
# Sourced by ci/push/test.sh.

refusals() {
	say "refusals"
	refusals_of_ssh
	refusals_of_the_board
	refusals_of_adb
	refusals_of_hdc
}

# with_options OPTIONS COMMAND...: by ssh, with other options of ssh
with_options() { "$analyze" push ssh "${@:2}" --ssh-options "$1" --agent "$agent" --port "$port"; }

refusals_of_ssh() {
	local key=$dir/other-key
	check "ssh: no such name" refused "looking up the name \`no-board.invalid\`" "ssh: Could not resolve" -- \
		with_options "" root@no-board.invalid
	check "ssh: nobody listens" refused "ssh server of root@127.0.0.1" "Connection refused" "--ssh-options '-p PORT'" -- with_options "-p 1" root@127.0.0.1
	ssh-keygen -q -t ed25519 -N '' -f "$key"
	check "ssh: key not known" refused "logging in as \`root@127.0.0.1\`" "Permission denied" "ssh-copy-id" -- \
		with_options "${ssh_options/ -i */} -i $key -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null" root@127.0.0.1
	check "ssh: another host key" refused "checking the host key" "ssh-keygen -R" -- other_host_key
	$board run "echo 'user::1000:1000::/mnt:/bin/sh' >>/etc/passwd; mkdir -p /mnt/.ssh; cp /root/.ssh/authorized_keys /mnt/.ssh/; chown -R 1000 /mnt; chmod -R go-w /mnt; chmod 700 /mnt/.ssh"
	check "ssh: not root, no sudo" refused "becoming root" "user 1000" "NOPASSWD" "log in as root" -- with_options "$ssh_options" user@127.0.0.1
	check "ssh: root by sudo" as_sudoer
	check "ssh: the server forbids forwarding" refused "through port $port" "did not reach it" "AllowTcpForwarding" "--file" -- forbidden_forward
	check "ssh: ... and leaves no port open" port_closed
	push_ssh --stop >/dev/null 2>&1 || true
}
other_host_key() {
	echo "[127.0.0.1]:$(cat "$run/ssh-port") $(cut -d' ' -f1,2 "$dir/other-key.pub")" >"$dir/known_hosts"
	with_options "-p $(cat "$run/ssh-port") -i $CACHE/board/ssh/key -o IdentitiesOnly=yes -o UserKnownHostsFile=$dir/known_hosts -o StrictHostKeyChecking=yes" root@127.0.0.1
}
push_user() { "$analyze" push ssh user@127.0.0.1 --ssh-options "$ssh_options" --port "$port" "$@"; }
# The same user, with sudo: pushed, captured, stopped as ever
as_sudoer() {
	aarch64-linux-gnu-gcc -O2 -Wall -static -o "$dir/sudo" "$REPO/ci/push/sudo.c" && $board put "$dir/sudo" /bin/sudo && $board run "chmod 4755 /bin/sudo" || return 1
	pushes user -- "${ENGINE[@]}" && says "$dir/push.err" "not root, but sudo works" && captures user -- "${ENGINE[@]}" && records user && stops user /tmp/profinfer
	local status=$?
	$board run "rm /bin/sudo"
	return "$status"
}
# A second server on the board, reached through the first, with a configuration file of ssh
forbidden_forward() {
	$board run "dropbear -R -j -p 127.0.0.1:2222"
	cat >"$dir/ssh_config" <<-X
		Host strict
		  User root
		  IdentityFile $CACHE/board/ssh/key
		  IdentitiesOnly yes
		  StrictHostKeyChecking no
		  UserKnownHostsFile /dev/null
		  ProxyCommand ssh $ssh_options -W 127.0.0.1:2222 root@127.0.0.1
	X
	with_options "-F $dir/ssh_config" strict
	local status=$?
	with_options "-F $dir/ssh_config" strict --stop >/dev/null 2>&1
	return $status
}

refusals_of_the_board() {
	local listener
	python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); time.sleep(600)' "$port" &
	listener=$!
	until ! port_closed >/dev/null; do sleep 0.1; done
	check "port taken here, by ssh" refused "port $port of this machine" "python3" "--port N" -- push_ssh --agent "$agent"
	check "port taken here, by adb" refused "port $port of this machine" "--port N" -- push_adb --agent "$agent"
	check "port taken here, by hdc" refused "port $port of this machine" "--port N" -- push_hdc --agent "$agent"
	kill "$listener" || true
	wait "$listener" 2>/dev/null || true
	push_adb --stop >/dev/null 2>&1 || true
	check "port taken on the board" refused "port 22 of the board" "ddress in use" "--board-port N" -- \
		push_ssh --agent "$agent" --board-port 22
	$board run "mkdir -p /small /noexec; mount -t tmpfs -o size=64k small /small; mount -t tmpfs -o noexec noexec /noexec"
	check "no space, by ssh" refused "/small, which has no room" "No space left" "--dir DIR" -- push_ssh --agent "$agent" --dir /small
	check "no space, by adb" refused "/small, which has no room" "o space left" "--dir DIR" -- push_adb --agent "$agent" --dir /small
	check "no space, by hdc" refused "/small, which has no room" "[Fail]" "--dir DIR" -- push_hdc --agent "$agent" --dir /small
	check "... and leaves nothing of the file" "$BASH" -c "[ -z \"\$($board run 'ls -A /small')\" ]"
	check "programs forbidden by mount" refused "mounted noexec" "Permission denied" "--dir DIR" -- push_ssh --agent "$agent" --dir /noexec
	check "no folder to be had" refused "the folder /proc/here" "mkdir" -- push_ssh --agent "$agent" --dir /proc/here
	check "agent of another machine" refused "is made for another machine" "build-agent.sh --arch aarch64" -- push_ssh --agent "$(realpath /bin/true)"
	check "agent that is no program" refused "no program" -- push_ssh --agent "$REPO/README.md"
	check "nowhere to put the recording" refused "no folder /nowhere" "--out FILE" -- push_ssh --out /nowhere/a.pfi --file -- true
	check "nothing to record" refused "fetching the recording" "no-such-program" -- \
		push_ssh --agent "$agent" --out "$dir/none.pfi" --file -- /no-such-program
	push_ssh --stop >/dev/null 2>&1 || true
}

refusals_of_adb() {
	check "adb: no such serial" refused "the board \`nowhere\`" "$adb_serial" -- "$analyze" push adb nowhere
	adb connect "localhost:${adb_serial#*:}" >/dev/null
	check "adb: several boards" refused "several boards" "$adb_serial" "name one" -- "$analyze" push adb
	adb disconnect >/dev/null
	check "adb: none" refused "a board connected by adb" "USB debugging" "adb tcpip" -- "$analyze" push adb
	check "adb: nobody listens" refused "a board connected by adb" -- "$analyze" push adb 127.0.0.1:1
	check "adb: not root" refused "becoming root" "userdebug" -- adb_of_user
	# These states need a phone's screen or a USB socket: adb's list is written by hand.
	check "adb: unauthorised" refused "using the board" "unauthorized" "adb_keys" -- listed "unauthorized"
	check "adb: offline" refused "offline" "adb reconnect" -- listed "offline"
	check "adb: no permissions" refused "may not open" "plugdev" -- listed "no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com/tools/device.html]"
	check "adb: recovery" refused "recovery" "booted to its system" -- listed "recovery"
}
# A second adbd on the board, another user's
adb_of_user() {
	local tunnel status=0 local_port
	$board run "mkdir -p /data/local/tmp; chmod 777 /data/local/tmp; su user -c 'ADBD_PORT=5556 setsid /adbd/ld-linux-aarch64.so.1 --library-path /adbd /adbd/adbd </dev/null >/dev/null 2>&1 &'" || return 2
	local_port=$(free_port 7960)
	# shellcheck disable=SC2086  # several options
	ssh $ssh_options -N -L "127.0.0.1:$local_port:127.0.0.1:5556" root@127.0.0.1 &
	tunnel=$!
	sleep 3
	"$analyze" push adb "127.0.0.1:$local_port" --port "$port" --agent "$agent" || status=$?
	adb disconnect "127.0.0.1:$local_port" >/dev/null 2>&1
	kill "$tunnel"
	return "$status"
}
# listed STATE: push with an adb that lists one board in that state
listed() {
	mkdir -p "$dir/listed"
	printf '#!/bin/sh\nprintf "List of devices attached\\n0123456789ABCDEF\\t%s\\n\\n"\n' "$1" >"$dir/listed/adb"
	chmod +x "$dir/listed/adb"
	PATH="$dir/listed:$PATH" "$analyze" push adb
}

profile_known() { [ "$(push_hdc --agent "$agent")" = "analyze --board rk3588 tcp:127.0.0.1:$port" ]; }
push_hdc_of() { "$analyze" push hdc "$@"; }
without_server() {
	touch "$HDC_STATE/no-server"
	local status=0
	push_hdc || status=$?
	rm "$HDC_STATE/no-server"
	return "$status"
}
# in_sdk VERSION COMMAND...: with an hdc of that SDK
in_sdk() {
	local status=0
	echo "$1" >"$HDC_STATE/sdk"
	"${@:2}" || status=$?
	rm "$HDC_STATE/sdk"
	return "$status"
}
pushes_again() { push_hdc --agent "$agent" >"$dir/again" 2>&1 && says "$dir/again" "port $port is forwarded already"; }
port_there() { ! port_closed >/dev/null; }
quotes_arrive() {
	push_hdc --agent "$agent" --out "$dir/quotes.pfi" --file -- /bin/sh -c 'printf %s "two  words" >/tmp/quotes; exec /engine/nodes -m /model.gguf -t 2 -p 2 -n 1' || return 1
	[ "$($board run cat /tmp/quotes)" = "two  words" ]
}
# The entry of a board that was switched off stays; tconn brings it back.
connected_anew() {
	echo "127.0.0.1:10178 Offline" >"$HDC_STATE/targets"
	echo "127.0.0.1:10178" >"$HDC_STATE/reachable"
	"$analyze" push hdc 127.0.0.1:10178 --port "$port" --agent "$agent" >"$dir/anew" 2>&1 || { cat "$dir/anew"; return 1; }
	says "$dir/anew" "Connect OK" "hdc tconn 127.0.0.1:10178" || return 1
	"$analyze" push hdc 127.0.0.1:10178 --port "$port" --stop
}
# personality CODE: what the board shall be by hdc
personality() { printf '%s\n' "$1" >"$HDC_STATE/personality"; }

refusals_of_hdc() {
	local avc='avc:  denied  { execute } for comm="sh" path="/data/local/tmp/profinfer-agent" scontext=u:r:sh:s0 permissive=0'
	: >"$HDC_STATE/targets"
	check "hdc: none" refused "a board connected by hdc" "hdc tconn PORT,921600" -- push_hdc
	check "hdc: nobody listens" refused "lists as Offline" "Connect failed" "hdc kill -r" -- push_hdc_of 127.0.0.1:10178
	check "hdc: a dead entry is no board" refused "a board connected by hdc" "127.0.0.1:10178" "Offline" -- push_hdc
	check "hdc: a port that is no number" refused "is no address of a board" -- push_hdc_of 127.0.0.1:x
	check "hdc: its own server cannot be reached" refused "hdc's own server" "Connect server failed" "8710" -- without_server
	printf '%s Connected\nfeedface Connected\n' "$hdc_key" >"$HDC_STATE/targets"
	check "hdc: several boards" refused "several boards" "feedface" "name one: analyze push hdc $hdc_key" -- push_hdc
	check "hdc: no such key" refused "the connect key \`nowhere\`" -- push_hdc_of nowhere
	echo "$hdc_key Unauthorized" >"$HDC_STATE/targets"
	check "hdc: unauthorised" refused "has not allowed this machine" "Unauthorized" "Only if it was denied: hdc kill" -- push_hdc
	echo "$hdc_key Offline" >"$HDC_STATE/targets"
	check "hdc: offline" refused "lists as Offline" "hdc kill -r" -- push_hdc_of "$hdc_key"
	check "hdc: offline, in the words of SDK 7.0" in_sdk 7.0 refused "lists as Offline" -- push_hdc_of "$hdc_key"
	printf '%s Connected\n127.0.0.1:10178 Offline\n127.0.0.1:10179 Unknown\n/dev/ttyS9,921600 Ready\n' "$hdc_key" >"$HDC_STATE/targets"
	check "hdc: dead entries count as no boards" push_hdc --agent "$agent"
	check "hdc: of SDK 4.0, whose list of forwardings has no key" in_sdk 4.0 pushes_again
	check "hdc: another board's --stop leaves the forwarding" refused "the connect key \`nowhere\`" -- push_hdc_of nowhere --port "$port" --stop
	check "hdc: ... which is there" port_there
	check "hdc: double quotes in an argument arrive" quotes_arrive
	push_hdc --stop >/dev/null 2>&1 || true
	check "hdc: a board that was gone is connected anew" connected_anew
	echo "$hdc_key Connected" >"$HDC_STATE/targets"
	personality 'id() { echo 2000; };'
	touch "$HDC_STATE/no-smode"
	check "hdc: not root" refused "becoming root" "[Fail]Cannot set root run mode" "const.debuggable" -- push_hdc
	rm "$HDC_STATE/no-smode"
	# Another board is Connected all the time; this one not at once.
	printf '%s Connected\nfeedface Connected\n' "$hdc_key" >"$HDC_STATE/targets"
	printf '%s Offline\n%s Connected\n' "$hdc_key" "$hdc_key" >"$HDC_STATE/after-smode"
	check "hdc: root by smode, waited for this board" push_hdc_of "$hdc_key" --port "$port" --agent "$agent"
	"$analyze" push hdc "$hdc_key" --port "$port" --stop >/dev/null 2>&1 || true
	echo "$hdc_key Connected" >"$HDC_STATE/targets"
	push_hdc --stop >/dev/null 2>&1 || true
	personality "chmod -x /data/local/tmp/profinfer-agent 2>/dev/null; getenforce() { echo Enforcing; }; dmesg() { echo '$avc'; };"
	check "hdc: SELinux" refused "which SELinux may forbid" "getenforce: Enforcing" "avc:  denied" "setenforce 0" -- push_hdc --agent "$agent"
	personality 'sha256sum() { return 127; };'
	check "a board without checksums: the size counts" push_hdc --agent "$agent"
	push_hdc --stop >/dev/null 2>&1 || true
	# shellcheck disable=SC2016  # for the board's shell
	personality 'cat() { case $1 in /proc/device-tree/*) echo "Orange Pi 5 Plus rockchip,rk3588" ;; *) command cat "$@" ;; esac; };'
	check "the profile of a board that is known" profile_known
	push_hdc --stop >/dev/null 2>&1 || true
	personality 'uname() { echo armv8l; };'
	check "a 32-bit system" refused "armv8l" "32-bit programs" "64-bit system" -- push_hdc
	personality 'uname() { echo riscv64; };'
	check "a machine without an agent" refused "machine type" "riscv64" -- push_hdc
	rm "$HDC_STATE/personality"
	push_hdc --stop >/dev/null 2>&1 || true
	check "no hdc in PATH" refused "running \`hdc list targets" "OpenHarmony SDK" -- env PATH="${PATH#"$dir/bin:"}" "$analyze" push hdc
}
