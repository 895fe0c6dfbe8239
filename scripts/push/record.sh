# shellcheck shell=bash disable=SC2034,SC2154  # the options are scripts/push.sh's
# Records on the board, without a forwarded port. Sourced by scripts/push.sh.

# there_live LINE: as there_as_root, but show the board's output immediately
there_live() {
	local line=$1
	[ ${#ROOT_BY[@]} = 0 ] || line="${ROOT_BY[*]} $(words "$1")"
	show "$(words "${SHELL_THERE[@]}" "$line")"
	ANSWER='' STATUS=0
	[ -z "$dry" ] || return 0
	# Use a separate process group: a terminal's Ctrl-C is for the agent, not for the connection.
	set -m
	{ "${SHELL_THERE[@]}" "($line); echo $MARK\$?" 2>&1 </dev/null | tee "$WORK/live" | sed -u "s/${MARK}[0-9]*//; s/^/    /" >&2; } &
	set +m
	local live=$!
	trap 'note "stopping"; there_as_root "kill -INT \$(cat $pid_file)" || true' INT TERM
	while kill -0 "$live" 2>/dev/null; do wait "$live" || true; done
	trap - INT TERM
	cp "$WORK/live" "$WORK/answer"
	status_of_answer
}

record() {
	local status
	there_live "cd $dir; ./profinfer-agent record --board $profile --out profinfer-agent.pfi $(words "${target[@]}") & p=\$!; echo \$p >profinfer-agent.pid; wait \$p" || true
	status=$STATUS
	link_get "$recording" "$out" || refuse "there is no recording to fetch (the agent's exit status: $status)" "Read the agent's messages above."
	same "$out" "$recording" size || [ -n "$dry" ] || refuse "the copy of the recording differs from the one on the board" "The original is still on the board: $recording. Run the copy again."
	there_as_root "rm -f $recording $pid_file" || true
	[ "$status" = 0 ] || note "the exit status on the board was $status"
	return "$status"
}
