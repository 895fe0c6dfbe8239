# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of ci/hosts.sh
# Windows, by wine. Sourced by ci/hosts.sh, whose variables it uses.

# in_wine ARGS...: analyze.exe in the folder /w of `root`
in_wine() {
	chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root WINEDEBUG=-all WINEPATH='Z:\programs' PROFINFER_AGENTS='Z:\agents' BOARD_PORT="${board_port:-}" PROFINFER_CEILINGS='' LC_ALL=C.UTF-8 \
		sh -c 'cd /w && exec timeout 120 wine /analyze.exe "$@"' in_wine "$@" </dev/null 2>"$work/wine.log"
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
	(cd "$root/w" && made_views in_wine)
	cp -r "$root/w/." "$views/"
	the_same windows
	windows_pushes
}

# `push` through an ssh.exe whose board is this machine, and a capture from the agent that it started
windows_pushes() {
	local engine model
	cp "$(scripts/build-agent.sh --arch x86_64)" "$root/agents/profinfer-agent-x86_64"
	x86_64-w64-mingw32-gcc -O1 -Wall -Wextra -o "$root/programs/ssh.exe" ci/hosts/ssh.c -lws2_32
	python3 -B ci/hosts/board.py "$work/port" >/dev/null 2>&1 &
	board=$!
	until [ -s "$work/port" ]; do sleep 0.1; done
	board_port=$(cat "$work/port")
	seen "windows: push" "==> ready" in_wine push ssh pi@board --dir /tmp/profinfer-windows
	if why=$(have_bpf); then
		engine=$(scripts/engine.sh) model=$(scripts/model.sh dense-q8)
		(sleep 4 && "$engine/nodes" -m "$model" -t 2 -n 64 >/dev/null 2>&1) &
		seen "windows: capture" "t/s on 2 threads" in_wine tcp:127.0.0.1:7817 --out capture
	else
		skip "a capture on Windows" "nothing can be traced here: $why"
	fi
	seen "windows: push --stop" "removed\|stopped\|stop" in_wine push ssh pi@board --dir /tmp/profinfer-windows --stop
	[ ! -e /tmp/profinfer-windows ] || { echo "left behind: /tmp/profinfer-windows"; failed=$((failed + 1)); }
	inside wineserver -k >/dev/null 2>&1 || true
	kill "$board"
}

# seen WHAT PATTERN COMMAND...: its output has the pattern
seen() {
	local what=$1 pattern=$2
	shift 2
	"$@" >"$work/seen" || true
	cat "$work/wine.log" >>"$work/seen"
	if grep -q -- "$pattern" "$work/seen"; then printf '%-28s ok: %s\n' "$what" "$(grep -m 1 -- "$pattern" "$work/seen")"; return; fi
	printf '%-28s FAILED: no "%s" in\n%s\n' "$what" "$pattern" "$(tail -n 20 "$work/seen")"
	failed=$((failed + 1))
}
