# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of ci/hosts.sh
# Windows, by wine. Sourced by ci/hosts.sh, whose variables it uses.

# in_wine ARGS...: analyze.exe in the folder /w of `root`
in_wine() {
	chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root WINEDEBUG=-all WINEPATH='Z:\programs' PROFINFER_AGENTS='Z:\agents' BOARD_PORT="${board_port:-}" PROFINFER_CEILINGS='' LC_ALL=C.UTF-8 \
		sh -c 'cd /w && exec timeout 120 wine /analyze.exe "$@"' in_wine "$@" </dev/null
}

on_windows() {
	need_pkgs debootstrap
	local there
	there=$(scripts/build-analyze.sh x86_64-pc-windows-gnu)
	bare_debian trixie amd64 wine wine64
	cp "$there" "$root/analyze.exe"
	mkdir "$root/w" "$root/agents" "$root/programs"
	inside env WINEDEBUG=-all wineboot -i >/dev/null 2>&1 || die "wine does not start"
	fresh windows
	cp "$data/sample.pfi" "$data/demo.pfi" "$root/w/"
	(cd "$root/w" && made_views in_wine 2>/dev/null)
	cp -r "$root/w/." "$views/"
	the_same windows
	agent=$(scripts/build-agent.sh --arch x86_64) engine='' model=''
	if why=$(have_bpf); then
		engine=$(scripts/engine.sh) model=$(scripts/model.sh dense-q8)
	else
		skip "captures on Windows" "nothing can be traced here: $why"
	fi
	windows_pushes
	[ -z "$engine" ] || windows_serial
	inside wineserver -k >/dev/null 2>&1 || true
}

# `push` through an ssh.exe whose board is this machine, and a capture from the agent that it started
windows_pushes() {
	cp "$agent" "$root/agents/profinfer-agent-x86_64"
	x86_64-w64-mingw32-gcc -O1 -Wall -Wextra -o "$root/programs/ssh.exe" ci/hosts/ssh.c -lws2_32
	python3 -B ci/hosts/board.py "$work/port" >/dev/null 2>&1 &
	board=$!
	until [ -s "$work/port" ]; do sleep 0.1; done
	board_port=$(cat "$work/port")
	# Both ends of the forwarded port are on this machine, where another check may use the usual one.
	port=$(free_port 7980)
	try_here "windows: push" "==> ready" in_wine push ssh pi@board --port "$port" --board-port "$port"
	if [ -n "$engine" ]; then
		(sleep 4 && "$engine/llama-completion" -m "$model" -t 2 -n 64 -p Hello -no-cnv >/dev/null 2>&1 </dev/null) &
		try_here "windows: capture over TCP" "t/s on 2 threads" in_wine "tcp:127.0.0.1:$port" --out tcp
	fi
	try_here "windows: push --stop" "rmdir /tmp/profinfer" in_wine push ssh pi@board --stop
	[ ! -e /tmp/profinfer ] || { echo "left behind: /tmp/profinfer"; failed=$((failed + 1)); }
	kill "$board"
}

# A capture from an agent at the other end of a serial line, which is COM9 for Windows
windows_serial() {
	local here there
	python3 -B ci/hosts/line.py "$work/line" >/dev/null 2>&1 &
	line=$!
	until [ -s "$work/line" ]; do sleep 0.1; done
	read -r here there <"$work/line"
	mount --bind /dev "$root/dev"
	mount --bind /dev/pts "$root/dev/pts"
	inside env WINEDEBUG=-all wine reg add 'HKLM\Software\Wine\Ports' /v COM9 /d "$there" /f >/dev/null 2>&1
	inside wineserver -k || true
	"$agent" serve --once --listen "serial:$here@115200" -- "$engine/nodes" -m "$model" -t 2 -n 48 >/dev/null 2>&1 </dev/null &
	try_here "windows: capture over COM9" "t/s on 2 threads" in_wine serial:COM9@115200 --out serial
	inside wineserver -k || true
	umount "$root/dev/pts" "$root/dev"
	kill "$line"
}
