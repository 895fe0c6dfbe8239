# shellcheck shell=bash disable=SC2034,SC2154  # where, port and board_port are scripts/push.sh's
# A board reached with ssh. One background connection carries every command and the forwarded port.
# Files go through `cat`, because small systems have neither scp nor an sftp server. Sourced by scripts/push.sh.
DEFAULT_DIR=/tmp/profinfer
read -ra SSH_OPTIONS <<<"${PUSH_SSH_OPTIONS:-}"

# A socket path has at most 108 characters, and ssh appends some.
control_socket() {
	local name
	name=push-$(printf %s "$where ${PUSH_SSH_OPTIONS:-}" | sha256sum | cut -c1-8)
	if [ ${#CACHE} -lt 60 ]; then mkdir -p "$CACHE/push" && echo "$CACHE/push/$name"
	else mkdir -p "$HOME/.ssh" && echo "$HOME/.ssh/$name"; fi
}

link_reach() {
	have ssh || need_pkgs openssh-client
	[ -n "$where" ] || die "push.sh ssh: which board?" "Name it as ssh does: scripts/push.sh ssh USER@BOARD" \
		"Port and key: in ~/.ssh/config, or PUSH_SSH_OPTIONS='-p 2222 -i KEY'."
	CONTROL=$(control_socket)
	SSH=(ssh -S "$CONTROL") # port and key count only when the connection is made
	SHELL_THERE=("${SSH[@]}" "$where")
	[ -n "$dry" ] || ! run_quietly "${SSH[@]}" -O check "$where" || { note "connected already"; return 0; }
	rm -f "$CONTROL" "$CONTROL.port"
	run "${SSH[@]}" ${SSH_OPTIONS[@]+"${SSH_OPTIONS[@]}"} -M -f -N -o ConnectTimeout=10 -o ServerAliveInterval=15 "$where" || unreachable
}

unreachable() {
	case $ANSWER in
	*"Could not resolve"*) refuse "there is no machine called '${where##*@}'" "Write its address instead, or an entry of ~/.ssh/config." ;;
	*"Connection refused"*) refuse "the board is reachable, but no ssh server answers on that port" \
		"Start sshd (or dropbear) on the board; another port: PUSH_SSH_OPTIONS='-p PORT'." ;;
	*"Permission denied"* | *"Too many authentication"*) refuse "the board does not let '$where' in" \
		"Give your key to the board (ssh-copy-id $where), or name the one it knows: PUSH_SSH_OPTIONS='-i KEY'." ;;
	*"HOST IDENTIFICATION HAS CHANGED"* | *"Host key verification failed"*) refuse "the board's host key is not the one that ssh knows" \
		"A board that was set up anew has a new one: check that it is yours, then ssh-keygen -R ${where##*@}, and ssh $where once." ;;
	*"timed out"* | *"No route"* | *unreachable*) refuse "the board does not answer" "Check that it is on, in this network, and at this address: ping ${where##*@}" ;;
	*) refuse "ssh cannot connect to '$where'" "Try it alone: $(words ssh ${SSH_OPTIONS[@]+"${SSH_OPTIONS[@]}"} "$where" true)" ;;
	esac
}

link_root() {
	[ -z "$dry" ] || { there "id -u"; return; }
	there "id -u" && [ "$ANSWER" != 0 ] || return 0
	local user=$ANSWER
	there "sudo -n id -u" && [ "$ANSWER" = 0 ] && { ROOT_BY=(sudo -n sh -c); note "not root, but sudo works"; return; }
	refuse "'$where' is user $user on the board, not root, and sudo asks for a password" \
		"Attaching probes needs root. Log in as root: scripts/push.sh ssh root@${where##*@}" \
		"or allow it on the board: echo '${where%%@*} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/profinfer"
}

link_put() {
	local line
	line="cat >$(words "$2")"
	show "$(words "${SSH[@]}" "$where" "$line") <$(words "$1")"
	[ -z "$dry" ] || return 0
	STATUS=0
	"${SSH[@]}" "$where" "$line" >"$WORK/answer" 2>&1 <"$1" || STATUS=$?
	answer
	return "$STATUS"
}
link_get() {
	show "$(words "${SSH[@]}" "$where" "cat $(words "$1")") >$(words "$2")"
	[ -z "$dry" ] || return 0
	STATUS=0
	"${SSH[@]}" "$where" "cat $(words "$1")" >"$2" 2>"$WORK/answer" </dev/null || STATUS=$?
	answer
	return "$STATUS"
}

# Forwarding lasts as long as the connection. A file next to its socket contains what it forwards.
link_forwarded() { [ "$(cat "$CONTROL.port" 2>/dev/null)" = "$port:$board_port" ]; }
link_forward() {
	local old
	if old=$(cat "$CONTROL.port" 2>/dev/null); then
		run "${SSH[@]}" -O cancel -L "127.0.0.1:${old%:*}:127.0.0.1:${old#*:}" "$where" || true
		rm -f "$CONTROL.port"
	fi
	run "${SSH[@]}" -O forward -L "127.0.0.1:$port:127.0.0.1:$board_port" "$where" || return
	[ -n "$dry" ] || echo "$port:$board_port" >"$CONTROL.port"
}
# A connection without a forwarded port is not needed any more.
link_leave() { [ ! -S "${CONTROL:-}" ] || [ -f "$CONTROL.port" ] || "${SSH[@]}" -O exit "$where" >/dev/null 2>&1 || true; }
# Closing the connection ends its forwarding.
link_unforward() { link_close; }
link_close() {
	CONTROL=$(control_socket)
	[ -n "$dry" ] || [ -S "$CONTROL" ] || return 0
	run ssh -S "$CONTROL" -O exit "$where" || true
	rm -f "$CONTROL" "$CONTROL.port"
}
