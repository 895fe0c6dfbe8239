# shellcheck shell=bash
# Records one run of a command, here or on a board. Sourced, after scripts/lib.sh, by scripts that make series of runs.
#
# They set: agent, levels (empty: the default of the agent), on (a prefix that runs a shell command elsewhere, or empty), pause (seconds).

# need_agent: build the agent unless one is named
need_agent() {
	[ -z "$on" ] || [ -n "$agent" ] || die "--on needs --agent" "Give the agent's path on that machine (analyze push puts it there)"
	[ -z "$agent" ] || return 0
	say "building the agent"
	(cd "$REPO" && cargo build -q --locked --release -p profinfer-agent)
	agent=$CARGO_TARGET_DIR/release/profinfer-agent
}

# need_analyze: build the analyzer unless one is named
need_analyze() {
	[ -z "$analyze" ] || return 0
	say "building analyze"
	(cd "$REPO" && cargo build -q --locked --profile host -p analyze --bin analyze)
	analyze=$CARGO_TARGET_DIR/host/analyze
}

# record_run FILE COMMAND: record a run. The output of the engine goes to a log next to the recording.
record_run() {
	local file=$1 log=${1%.pfi}.log there script
	# shellcheck disable=SC2154  # who sources this sets it
	[ "$pause" = 0 ] || sleep "$pause"
	if [ -z "$on" ]; then
		# shellcheck disable=SC2086  # levels are one option or none
		"$agent" record --full --out "$file" ${levels:+--levels $levels} -- sh -c "exec $2" >"$log" 2>&1 </dev/null
	else
		# Record to a file on the board first: a slow link must not slow the engine down.
		there=/tmp/profinfer-run.$$.pfi
		script="'$agent' record --full --out $there ${levels:+--levels $levels} -- sh -c $(printf %q "exec $2") >&2 </dev/null && cat $there; s=\$?; rm -f $there; exit \$s"
		# shellcheck disable=SC2086  # the prefix is a command with its arguments
		$on "$script" >"$file" 2>"$log" </dev/null
	fi || die "this run failed: $2" "$(tail -n 3 "$log")" "All of its output: $log"
}
