# shellcheck shell=bash disable=SC2154  # RUN and name are scripts/board.sh's
# What can be done with a running board. Sourced by scripts/board.sh.

# The pid may be another process's by now: it is ours if it runs our emulator for this board.
running() {
	local pid
	pid=$(cat "$RUN/pid" 2>/dev/null) && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "-pidfile $RUN/pid "
}

need_running() {
	running || die "the board '$name' is not up" "Boot it with scripts/board.sh up."
}

# on_board SSH_OPTIONS... [COMMAND]: ssh to the board, whose host key is a new one at each boot. A board whose kernel stands still ends it after
# some minutes; one that is only slow does not.
on_board() {
	need_running
	ssh -q -o ConnectTimeout=60 -o ServerAliveInterval=20 -o ServerAliveCountMax=9 -p "$(cat "$RUN/ssh-port")" -i "$RUN/key" -o IdentitiesOnly=yes -o BatchMode=yes \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@127.0.0.1 "$@"
}

# quoted WORD: the word as a shell reads it back
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# One word is a shell's command line, several are the words of one command.
board_run() {
	local line=${1:?which command?} word
	if [ $# -gt 1 ]; then
		line=
		for word; do line+=" $(quoted "$word")"; done
	fi
	on_board "$line"
}

board_put() {
	local file=${1:?which file?} to=${2:-/tmp}
	[ -r "$file" ] || die "cannot read $file"
	local base mode=644
	base=$(quoted "$(basename "$file")")
	[ ! -x "$file" ] || mode=755
	on_board "to=$(quoted "$to"); [ ! -d \"\$to\" ] || to=\$to/$base; cat >\"\$to\" && chmod $mode \"\$to\"" <"$file"
}

board_get() {
	local path=${1:?which file of the board?} file=${2:--}
	if [ "$file" = - ]; then on_board "cat $(quoted "$path")" </dev/null
	else on_board "cat $(quoted "$path")" </dev/null >"$file"; fi
}

# board_speed PERCENT [CPU...]: see the head of speed-plugin.c
board_speed() {
	local percent=${1:?which per cent of full speed?} cpu
	shift
	need_running
	[ -f "$RUN/speeds" ] || die "the speed of this board's CPUs cannot be set" "Boot it with --speeds."
	case $percent in [1-9] | [1-9][0-9] | 100) ;; *) die "'$percent' is no per cent of full speed, 1 to 100" ;; esac
	[ $# -gt 0 ] || set -- 0 1 2 3
	for cpu; do
		case $cpu in [0-3]) ;; *) die "the board has no CPU '$cpu'" ;; esac
		# shellcheck disable=SC2059  # a byte by its octal number
		printf "\\$(printf %o "$percent")" | dd of="$RUN/speeds" bs=1 seek="$cpu" conv=notrunc status=none
	done
}

board_shell() {
	need_running
	on_board -t
}

board_down() {
	local pid i
	running || { note "the board '$name' is not up"; return 0; }
	pid=$(cat "$RUN/pid")
	on_board "poweroff -f" </dev/null >/dev/null 2>&1 &
	for ((i = 0; i < 100; i++)); do
		running || break
		[ "$i" != 50 ] || kill "$pid" 2>/dev/null || true
		[ "$i" != 80 ] || kill -KILL "$pid" 2>/dev/null || true
		sleep 0.1
	done
	wait
	! running || die "the board's emulator (process $pid) does not end"
	[ ! -f "$RUN/serial" ] || rm -f "$(cat "$RUN/serial")"
	rm -f "$RUN/pid" "$RUN/initramfs"
	note "the board '$name' is off; its console is in $RUN/console.log"
}

list() {
	local arch k dir what
	for arch in arm64 x86-64; do
		set_arch "$arch"
		for k in "${KERNELS[@]}"; do
			what=$(cat "$PARTS/kernel/$k/VERSION" 2>/dev/null) || what="not fetched (Debian $(kernel_suite "$k"))"
			echo "kernel	$arch	$k	$what"
		done
	done
	for dir in "$BOARD"/engine/*/ "$BOARD"/x86-64/engine/*/ "$BOARD"/musl/; do
		[ ! -f "$dir/VERSION" ] || echo "engine	$(basename "$dir")	$(cat "$dir/VERSION")"
	done
	for dir in "$BOARD"/run/*/; do
		[ -f "$dir/what" ] || continue
		RUN=${dir%/}
		if running; then what="up, ssh port $(cat "$RUN/ssh-port"), agent's port $(cat "$RUN/port")"; else what=off; fi
		echo "board	$(basename "$RUN")	$(cat "$RUN/what"): $what"
	done
}
