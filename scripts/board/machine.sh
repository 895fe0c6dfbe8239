# shellcheck shell=bash disable=SC2154  # RUN and name are scripts/board.sh's
# Puts the board together and boots it: initramfs, device tree, QEMU's arguments. Sourced by
# scripts/board.sh.

# Everything but kernel and engine.
need_common() {
	part qemu scripts/board/fetch.sh part_qemu || die "QEMU cannot be fetched" "It comes from Debian's bookworm."
	part userland scripts/board/fetch.sh part_userland || die "busybox for $BOARD_ARCH cannot be fetched" "It comes from Debian's bookworm."
	part ssh scripts/board/ssh.sh part_ssh || die "the board's ssh server cannot be built" "See $BOARD/dropbear.log."
}

# device_tree CPUS MEMORY OPTIONS...: prints the blob of that board's device tree, with these options of device_tree.py
device_tree() {
	local dtb=$BOARD/dtb/$1-$2${*:3}.dtb
	dtb=${dtb// /}
	if [ ! -f "$dtb" ] || [ "$REPO/scripts/board/device_tree.py" -nt "$dtb" ]; then
		mkdir -p "$BOARD/dtb"
		emulator "$QEMU" -M "$MACHINE,dumpdtb=$dtb.virt" -cpu cortex-a76 -smp "$1" -m "$2" \
			-display none -nodefaults 2>"$dtb.log" || die "QEMU does not write its device tree" "$(tail -n 1 "$dtb.log")"
		emulator dtc -q -I dtb -O dts "$dtb.virt" | python3 "$REPO/scripts/board/device_tree.py" "${@:3}" >"$dtb.dts" ||
			die "there is no such device tree: ${*:3}" "scripts/board.sh --help"
		emulator dtc -q -I dts -O dtb -o "$dtb.new" "$dtb.dts"
		mv "$dtb.new" "$dtb"
	fi
	echo "$dtb"
}

# plugin NAME: the QEMU plugin, pmu-plugin or speed-plugin; see the head of its source.
plugin() {
	local so=$BOARD/$1.so source=$REPO/scripts/board/$1.c
	if [ ! -f "$so" ] || [ "$source" -nt "$so" ]; then
		have gcc || need_pkgs gcc libc6-dev
		gcc -O2 -Wall -fPIC -shared -o "$so.new" "$source" >&2 || die "the plugin does not compile: $source"
		mv "$so.new" "$so"
	fi
	echo "$so"
}

# free_port FROM: the first TCP port of the loopback from there on that nobody listens at
free_port() {
	python3 - "$1" <<-'X'
		import socket, sys
		for port in range(int(sys.argv[1]), 65536):
		    with socket.socket() as s:
		        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		        try:
		            s.bind(("127.0.0.1", port))
		        except OSError:
		            continue
		    print(port)
		    break
	X
}

# write_initramfs OUT KERNEL MODEL AGENT MUSL ADB
write_initramfs() {
	local out=$1 kernel=$2 model=$3 agent=$4 musl=$5 adb=$6 args
	args=(--kernel "$PARTS/kernel/$kernel"
		--modules virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev virtio_net
		--file "$REPO/scripts/board/init:init" --file "$PARTS/userland/bin/busybox:bin/busybox" --link busybox:bin/sh
		--file "$PARTS/ssh/dropbearmulti:bin/dropbear" --link dropbear:bin/scp
		--file "$PARTS/ssh/key.pub:root/.ssh/authorized_keys"
		--file "$REPO/scripts/board/passwd:etc/passwd" --file "$model:model.gguf")
	if [ -n "$musl" ]; then args+=(--tree "$BOARD/musl/root:/")
	elif [ "$ENGINE" = debian ]; then args+=(--tree "$PARTS/engine/debian/lib:lib" --tree "$PARTS/engine/debian/engine:engine" --link lib:lib64)
	else args+=(--tree "$PARTS/glibc/lib:lib" --tree "$PARTS/engine/$ENGINE/engine:engine"); fi
	[ -z "$adb" ] || args+=(--tree "$BOARD/adbd/adbd:adbd")
	[ "$agent" = none ] || args+=(--file "$agent:bin/profinfer-agent")
	python3 "$REPO/scripts/board/initramfs.py" "$out" "${args[@]}"
}

board_up() {
	local arch=$BOARD_ARCH kernel='' append='' cpus=4 nobtf='' biglittle='' musl='' serial='' plugin='' speeds='' pace='' adb='' device='' port='' model=dense-q8 agent='' memory=1024 cpu=''
	while [ $# -gt 0 ]; do
		case $1 in
		--no-btf) nobtf=board.nobtf; shift; continue ;;
		--big-little) biglittle=1; shift; continue ;;
		--musl) musl=1; shift; continue ;;
		--plugin) plugin=1; shift; continue ;;
		--speeds) speeds=1; shift; continue ;;
		--adb) adb=1; shift; continue ;;
		--arch | --kernel | --append | --cpus | --serial | --device | --port | --model | --agent | --memory | --cpu | --pace)
			[ $# -ge 2 ] || die "$1 needs a value" ;;
		*) die "unknown argument '$1' of up" "scripts/board.sh --help" ;;
		esac
		printf -v "${1#--}" %s "$2"
		shift 2
	done
	! running || die "the board '$name' is up already: $(cat "$RUN/what")" \
		"Switch it off with scripts/board.sh down, or name another: scripts/board.sh --board NAME up"
	set_arch "$arch"
	# shellcheck disable=SC2153  # CPU and the like are set_arch's
	: "${cpu:=$CPU}"
	if [ "$arch" = arm64 ]; then : "${kernel:=6.1}"
	else
		: "${kernel:=6.12}"
		[ -z "$biglittle$musl$serial$plugin$speeds$pace$adb$device" ] || die "this option is for arm64 only" "scripts/board.sh --help"
	fi
	kernel_suite "$kernel" >/dev/null
	[ -z "$serial" ] || [ ! -e "$serial" ] || [ -L "$serial" ] || die "$serial exists already and is not a link: choose another path with --serial"

	need_common
	need_kernel "$kernel"
	if [ -n "$musl" ]; then need_musl || die "the musl engine cannot be fetched"; else need_engine; fi
	[ -z "$adb" ] || need_adbd
	model=$("$REPO/scripts/model.sh" "$model")
	[ -n "$agent" ] || agent=${PROFINFER_STATIC_AGENT:-$("$REPO/scripts/build-agent.sh" --arch "$RUST")}
	[ "$agent" = none ] || [ -f "$agent" ] || die "there is no agent at $agent" "Build it with scripts/build-agent.sh."

	rm -rf "$RUN"
	mkdir -p "$RUN"
	write_initramfs "$RUN/initramfs" "$kernel" "$model" "$agent" "$musl" "$adb"
	local ssh_port args tree parameters="console=$TTY panic=-1 $nobtf"
	# Boards that begin at the same time would choose the same ports: a port is taken only when QEMU listens at it.
	exec 8>"$RUN/../ports"
	! have flock || flock 8
	ssh_port=$(free_port 7822)
	[ -n "$port" ] || port=$(free_port "${BOARD_PORT:-7817}")
	[ -z "$adb" ] || adb=$(free_port 7855)
	# Boot messages take time to print; on a serial link they belong to what it has to bear.
	[ -n "$serial" ] || parameters+=" quiet"
	args=(-M "$MACHINE" -accel "$ACCEL" -cpu "$cpu" -smp "$cpus" -m "$memory" -display none -nodefaults -no-reboot -L "$PARTS/qemu/usr/share/qemu" -L "$PARTS/qemu/usr/share/seabios"
		-kernel "$(find "$PARTS/kernel/$kernel" -name 'vmlinuz*' -type f | head -n 1)" -initrd "$RUN/initramfs" -append "$parameters $append"
		-netdev "user,id=net,hostfwd=tcp:127.0.0.1:$ssh_port-:22,hostfwd=tcp:127.0.0.1:$port-:17817${adb:+,hostfwd=tcp:127.0.0.1:$adb-:5555}"
		-device "virtio-net-pci,netdev=net,romfile=" -monitor "unix:$RUN/monitor,server,nowait" -pidfile "$RUN/pid" -daemonize)
	if [ -n "$biglittle$device" ]; then
		tree=$(device_tree "$cpus" "$memory" ${biglittle:+--big-little} ${device:+--device "$device"}) || exit 1
		args+=(-dtb "$tree")
	fi
	[ -z "$plugin" ] || args+=(-plugin "$(plugin pmu-plugin)")
	case $pace in *[!0-9]* | 0*) die "'$pace' is no pace in million instructions a second" "scripts/board.sh --help" ;; esac
	if [ -n "$speeds$pace" ]; then
		head -c 16 /dev/zero >"$RUN/speeds"
		args+=(-plugin "$(plugin speed-plugin),speeds=$RUN/speeds${pace:+,pace=$pace}")
	fi
	if [ -n "$serial" ]; then args+=(-chardev "pty,id=console,logfile=$RUN/console.log")
	else args+=(-chardev "file,id=console,path=$RUN/console.log"); fi
	args+=(-serial chardev:console)

	say "booting a $cpu with Linux $(cat "$PARTS/kernel/$kernel/VERSION")"
	: >"$RUN/console.log"
	printf '%s\n' "Linux $(cat "$PARTS/kernel/$kernel/VERSION")${nobtf:+, BTF hidden}${biglittle:+, two core types}${device:+, named $device}${musl:+, musl}${plugin:+, counter plugin}${append:+, $append}" >"$RUN/what"
	ln -s "$PARTS/ssh/key" "$RUN/key"
	echo "$ssh_port" >"$RUN/ssh-port"
	echo "$port" >"$RUN/port"
	[ -z "$adb" ] || echo "$adb" >"$RUN/adb-port"
	emulator "$QEMU" "${args[@]}" >"$RUN/qemu.log" 2>&1 </dev/null 8>&- ||
		die "QEMU does not start" "$(tail -n 3 "$RUN/qemu.log")" "All of its output: $RUN/qemu.log"
	exec 8>&-
	[ -z "$serial" ] || link_serial "$serial"
	wait_until_up
	say_how "$port" "$ssh_port" "$serial" "$adb"
}

# The terminal that QEMU made is linked to where the user wants it.
link_serial() {
	local pty
	pty=$(sed -n 's|.*redirected to \(/dev/[^ ]*\) .*|\1|p' "$RUN/qemu.log")
	[ -n "$pty" ] || die "QEMU did not name the terminal that it made" "All of its output: $RUN/qemu.log"
	ln -sfn "$pty" "$1"
	echo "$1" >"$RUN/serial"
}

wait_until_up() {
	local i
	for ((i = 0; i < 1800; i++)); do
		! grep -qa BOARD-UP "$RUN/console.log" || return 0
		running || die "the board powered off while it booted" "$(tail -n 5 "$RUN/console.log")" "All of its console: $RUN/console.log"
		sleep 0.1
	done
	board_down
	die "the board did not come up within three minutes" "$(tail -n 5 "$RUN/console.log")" "All of its console: $RUN/console.log"
}

say_how() {
	note "$(grep -a BOARD-UP "$RUN/console.log" | tr -d '\r')"
	note "run a command:   scripts/board.sh run profinfer-agent record --out /tmp/t.pfi -- nodes -m /model.gguf -t 2"
	note "bring a file:    scripts/board.sh get /tmp/t.pfi t.pfi"
	note "by ssh:          ssh -p $2 -i $RUN/key root@127.0.0.1"
	note "the agent's TCP: 127.0.0.1:$1 on this machine is 127.0.0.1:7817 on the board"
	[ -z "$3" ] || note "its serial line: $3"
	[ -z "$4" ] || note "by adb:          adb connect 127.0.0.1:$4"
	note "switch it off:   scripts/board.sh down"
}
