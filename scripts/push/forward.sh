# shellcheck shell=bash disable=SC2034,SC2154  # the options are scripts/push.sh's
# Forwarding from a port of this machine to the agent. Sourced by scripts/push.sh.

port_open() { (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# who_listens: the process that uses the port, if this user may see it
who_listens() { have ss && ss -Hltnp "sport = :$port" 2>/dev/null | sed -n 's/.*users:(("\([^"]*\)",pid=\([0-9]*\).*/\1, process \2/p' | head -n 1; }

# port_free: checked before anything is started. A port that is already forwarded to this board counts as free.
forwarded=''
port_free() {
	[ -z "$dry" ] || return 0
	! link_forwarded || { forwarded=1; return 0; }
	port_open || return 0
	ANSWER=$(who_listens)
	ANSWER=${ANSWER:-some program of this machine}
	refuse "port $port of this machine is taken" "Choose another one: --port N, and give it to analyze: tcp:127.0.0.1:N"
}

forward() {
	if [ -n "$forwarded" ]; then note "port $port is forwarded already"
	else link_forward || refuse "port $port cannot be forwarded" "Choose another one: --port N"; fi
	answers
}

# reaches_agent HOST PORT: does a connection to this address reach the agent's port on the board? A
# forwarded port accepts connections even if nothing listens on the board, so ask the board's kernel.
reaches_agent() {
	local hex
	hex=$(printf %04X "$board_port")
	show ": </dev/tcp/$1/$2"
	( # the connection ends with this shell
		if [ -z "$dry" ]; then { exec 3<>"/dev/tcp/$1/$2"; } 2>/dev/null || exit 1; fi
		# Local address with this port, remote address, state 01: established
		there_as_root "i=0; until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE '^ *[0-9]+: [0-9A-F]+:$hex [0-9A-F:]+ 01 '; do [ \$((i+=1)) -lt 10 ] || exit 1; sleep 0.3; done"
	)
}

answers() {
	reaches_agent 127.0.0.1 "$port" ||
		{ link_unforward; ANSWER="the connection did not reach it"; refuse "the agent does not answer through port $port" \
			"Allow forwarding on the board (sshd: AllowTcpForwarding; SELinux), or record without a port: --file -- COMMAND"; }
}
