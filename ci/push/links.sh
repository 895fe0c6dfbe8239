# shellcheck shell=bash disable=SC2154  # from ci/push/test.sh
# Recordings from a link that rewrites line ends, and one that was stopped. Sourced by
# ci/push/test.sh.

links() {
	say "links"
	check "a recording with LF made CR LF" rewritten_file
	check "a recording through a real adb shell's terminal" rewritten_by_adb
	check "ended by a signal, --file still fetches it" stopped_recording
	check "--dry-run runs nothing" dry_run
}

# analyze must say what happened and name a way that does not do it
recognised() { refused "rewrit" "adb exec-out" "hdc file recv" -- "$analyze" "$1" -o "$dir/rewritten"; }

rewritten_file() {
	sed 's/$/\r/' "$REPO/host-analyzer/tests/data/demo.pfi" >"$dir/rewritten.pfi"
	recognised "$dir/rewritten.pfi"
}
rewritten_by_adb() {
	adb connect "$adb_serial" >/dev/null
	adb -s "$adb_serial" push "$REPO/host-analyzer/tests/data/demo.pfi" /tmp/demo.pfi || return 1
	adb -s "$adb_serial" shell -t -t cat /tmp/demo.pfi >"$dir/terminal.pfi"
	! cmp -s "$dir/terminal.pfi" "$REPO/host-analyzer/tests/data/demo.pfi" || { echo "this terminal rewrites nothing"; return 1; }
	recognised "$dir/terminal.pfi" || return 1
	adb -s "$adb_serial" exec-out cat /tmp/demo.pfi | cmp - "$REPO/host-analyzer/tests/data/demo.pfi" # the advice is right
}

stopped_recording() {
	local push
	"$analyze" push ssh root@127.0.0.1 --ssh-options "$ssh_options" --agent "$agent" --out "$dir/stopped.pfi" --file -- --name nodes >"$dir/next" 2>"$dir/push.err" &
	push=$!
	# shellcheck disable=SC2086  # words
	ready "$push" $board run "grep -qs $READY /tmp/profinfer/profinfer-agent.pfi" || { cat "$dir/push.err"; return 1; }
	$board run "${ENGINE[*]} >/dev/null" || return 1
	kill -TERM "$push"
	wait "$push" || { cat "$dir/push.err"; return 1; }
	"$analyze" "$dir/stopped.pfi" -o "$dir/profile-stopped" && arrived "$dir/profile-stopped/summary.json"
}

dry_run() {
	local way
	for way in ssh adb hdc; do
		HDC_SSH=false HDC_STATE=/nowhere "push_$way" --dry-run >"$dir/dry" 2>&1 || { cat "$dir/dry"; return 1; }
		says "$dir/dry" "profinfer-agent serve --listen tcp:127.0.0.1:7817" "tcp:127.0.0.1:$port" || return 1
	done
	port_closed
}
