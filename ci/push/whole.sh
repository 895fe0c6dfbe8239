# shellcheck shell=bash disable=SC2034,SC2154  # for and from ci/push/test.sh
# All steps for one way: push, capture, again, record, stop. Sourced by ci/push/test.sh.
ENGINE=(/engine/nodes -m /model.gguf -t 2 -p 8 -n 4)

# whole WAY DIR [-- TARGET...]
whole() {
	local way=$1 there=$2
	shift 2
	say "$way"
	check "$way: push" pushes "$way" "$@"
	check "$way: capture through the port" captures "$way" "$@"
	check "$way: again, copies and connects nothing twice" again "$way"
	check "$way: record there and fetch" records "$way"
	if [ "$way" != hdc ]; then # hdc: oracle/push.rs
		check "$way: a link that broke is made again, and nothing is lost" resumes "$way"
		check "$way: Ctrl-C ends the engine and fetches the recording" interrupted "$way" "$there"
	fi
	check "$way: stop leaves nothing" stops "$way" "$there"
	check "$way: no connection stays behind" disconnected
	check "$way: stop where there is nothing" "push_$way" --stop
}

# pushes WAY ARGUMENTS...: its last line is the command to run next, and nothing else is on standard output
pushes() {
	"push_$1" --agent "$agent" "${@:2}" >"$dir/next" 2>"$dir/push.err" || { cat "$dir/push.err"; return 1; }
	[ "$(cat "$dir/next")" = "analyze --board generic-aarch64 tcp:127.0.0.1:$port" ] || { cat "$dir/next" "$dir/push.err"; return 1; }
	says "$dir/push.err" "  \$ " "profinfer-agent --version"
}

# The command that push printed, run as it is. Where the agent does not start the engine, the engine starts meanwhile.
captures() {
	local out=$dir/profile-$1 words
	rm -rf "$out" "$dir/capture.err"
	read -ra words <"$dir/next"
	words[0]=$analyze
	words+=(-o "$out")
	case "$*" in
	*"-- /"*) "${words[@]}" || return 1 ;;
	*)
		[ $# -gt 1 ] || words+=(--target nodes)
		rm -f "$out/recording.pfi"
		"${words[@]}" 2>"$dir/capture.err" &
		ready $! grep -qs "$READY" "$out/recording.pfi" || { cat "$dir/capture.err"; return 1; }
		$board run "${ENGINE[*]} >/dev/null" || return 1
		wait $! || { cat "$dir/capture.err"; return 1; } ;;
	esac
	arrived "$out/summary.json"
}

# The agent records this fact when it waits for the engine.
READY=agent.no_new_privileges
# ready PID COMMAND...: waits until COMMAND succeeds while the process PID runs
ready() {
	local i
	for ((i = 0; i < 240; i++)); do
		! "${@:2}" || return 0
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.5
	done
	return 1
}

# arrived SUMMARY: all of the run of ENGINE: 1 prefill of 8 tokens and 4 decodes, operators, nothing lost
arrived() {
	python3 - "$1" <<-'X'
		import json, sys
		s = json.load(open(sys.argv[1]))
		h, t = s["health"], s["tokens"]
		print(h["lines"], t)
		assert h["perfect"] and h["spans"]["received"] > 500, h
		assert (t["prefill"]["calls"], t["prefill"]["tokens"], t["decode"]["tokens"]) == (1, 8, 4), t
		assert s["session"]["machine"] == "aarch64", s["session"]
	X
}

again() {
	local start=$SECONDS
	pushes "$1" || return 1
	says "$dir/push.err" "the board has this file already" "port $port is forwarded already" || return 1
	[ $((SECONDS - start)) -lt 30 ] || { echo "it took $((SECONDS - start)) s"; return 1; }
}

records() {
	local file=$dir/$1.pfi
	"push_$1" --agent "$agent" --out "$file" --file -- "${ENGINE[@]}" >"$dir/next" 2>"$dir/push.err" || { cat "$dir/push.err"; return 1; }
	[ "$1" != ssh ] || ! disconnected || { echo "the forwarding did not outlive --file"; return 1; }
	[ "$(cat "$dir/next")" = "analyze $file" ] || { cat "$dir/next"; return 1; }
	"$analyze" "$file" -o "$dir/profile-file" && arrived "$dir/profile-file/summary.json"
}

# resumes WAY: a second push is refused while a capture waits for the engine; its link breaks, --resume makes it again, and the
# capture gets all of the run
resumes() {
	local out=$dir/profile-resumed words capture
	rm -rf "$out"
	pushes "$1" || return 1
	read -ra words <"$dir/next"
	words[0]=$analyze
	"${words[@]}" -o "$out" --target nodes --reconnect 60 2>"$dir/capture.err" &
	capture=$!
	ready $capture grep -qs "$READY" "$out/recording.pfi" || { cat "$dir/capture.err"; return 1; }
	refused "a capture is in progress" --resume --replace -- "push_$1" --agent "$agent" || return 1
	case $1 in
	ssh) pkill -f "ssh -S $XDG_STATE_HOME" ;;
	adb) adb disconnect "$adb_serial" ;;
	esac
	ready $capture port_closed >/dev/null || { echo "the link is still there"; return 1; }
	"push_$1" --resume >"$dir/next" 2>"$dir/push.err" || { cat "$dir/push.err"; return 1; }
	says "$dir/push.err" "a capture is in progress" || return 1
	$board run "${ENGINE[*]} >/dev/null" || return 1
	wait $capture || { cat "$dir/capture.err"; return 1; }
	arrived "$out/summary.json"
}

# interrupted WAY DIR: SIGINT for a push that records
interrupted() {
	local -n push=$1_words
	local file=$dir/$1-interrupted.pfi pid
	"${push[@]}" --agent "$agent" --out "$file" --file -- "${ENGINE[@]:0:${#ENGINE[@]}-1}" 100000 >"$dir/next" 2>"$dir/push.err" &
	pid=$!
	# shellcheck disable=SC2086  # words
	ready "$pid" $board run "[ \"\$(stat -c %s $2/profinfer-agent.pfi 2>/dev/null || echo 0)\" -gt 100000 ]" || { cat "$dir/push.err"; return 1; }
	kill -INT "$pid"
	wait "$pid" || { cat "$dir/push.err"; return 1; }
	$board run "! pidof nodes" || { echo "the engine goes on"; return 1; }
	"$analyze" "$file" -o "$dir/profile-interrupted"
}

# No process of ssh's holds the connection of push to the board
disconnected() { [ -z "$(find "$XDG_STATE_HOME" -type s)" ] && ! pgrep -af "ssh -S $XDG_STATE_HOME"; }

# stops WAY DIR: no process, no file, no port
stops() {
	pushes "$1" || return 1 # --file ended the agent that served
	"push_$1" --stop || return 1
	port_closed || return 1
	$board run "! grep -l profinfer /proc/[0-9]*/comm && ! ls -d $2/profinfer*" || return 1
	case $2 in */profinfer) $board run "! ls -d $2" ;; esac
}

# keyed DIR: no forwarding: the agent listens at the board's network, for who has the key that push made
keyed() {
	local file=$dir/push.key words out=$dir/profile-keyed there
	there=$(free_port 7960)
	board_port "$there"
	push_ssh --agent "$agent" --key "$file" --address 127.0.0.1 --board-port "$there" -- "${ENGINE[@]}" >"$dir/next" 2>"$dir/push.err" ||
		{ cat "$dir/push.err"; return 1; }
	[ "$(cat "$dir/next")" = "analyze --board generic-aarch64 --key $file tcp:127.0.0.1:$there" ] || { cat "$dir/next" "$dir/push.err"; return 1; }
	[ "$(stat -c %a "$file")" = 600 ] || return 1
	$board run "for f in $1/*key*; do [ \$(stat -c %a \$f) = 600 ] || exit 1; done" || return 1
	# Who has none is not let in, and the one who has it is served after that.
	! "$analyze" "tcp:127.0.0.1:$there" --wait 5 -o "$out-without" || return 1
	read -ra words <"$dir/next"
	words[0]=$analyze
	"${words[@]}" -o "$out" || return 1
	arrived "$out/summary.json" || return 1
	push_ssh --stop && $board run "! ls -d $1"
}

# board_port N: the board's port N is this machine's, as a board in the network has it
board_port() {
	python3 - "$run/monitor" "hostfwd_add net tcp:127.0.0.1:$1-:$1" <<-'X'
		import socket, sys, time
		with socket.socket(socket.AF_UNIX) as monitor:
		    monitor.connect(sys.argv[1])
		    monitor.sendall(sys.argv[2].encode() + b"\n")
		    time.sleep(0.5)
	X
}
