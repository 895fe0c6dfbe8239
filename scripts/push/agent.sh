# shellcheck shell=bash disable=SC2034,SC2154  # the options are scripts/push.sh's
# The agent's file on the board, and its process. Sourced by scripts/push.sh.

# The machine of the board, and the profile that matches the model in its device tree.
look_at_board() {
	there "uname -m" || refuse "the board's machine type cannot be read"
	machine=${ANSWER:-aarch64}
	case $machine in
	aarch64) profile=generic-aarch64 ;;
	x86_64) profile=host ;;
	armv8l) refuse "the board has a 64-bit processor, but its system runs 32-bit programs only" "Flash a 64-bit system: uname -m must say aarch64." ;;
	*) refuse "there is no agent for this machine" "It must be a 64-bit Arm (aarch64) or x86_64." ;;
	esac
	there "cat /proc/device-tree/model /proc/device-tree/compatible | tr '\\0' ' '" || true
	profile_of "${ANSWER,,}"
	[ -n "$dry" ] || note "$machine, profile $profile"
}

# profile_of TEXT: set `profile` if TEXT contains a model of one of boards/*.toml; the longest match wins
profile_of() {
	local file model longest=0
	for file in "$REPO"/boards/*.toml; do
		while read -r model; do
			if [ ${#model} -gt "$longest" ] && [[ $1 == *"${model,,}"* ]]; then
				longest=${#model}
				profile=$(basename "$file" .toml)
			fi
		done < <(sed -n 's/^models = \[\(.*\)\].*/\1/p' "$file" | grep -o '"[^"]*"' | tr -d '"')
	done
}

# The file to copy: --agent, or one built for the machine.
find_agent() {
	local elf
	if [ -z "$agent" ]; then
		show "$(words scripts/build-agent.sh --arch "$machine")"
		agent=$CACHE/out/$machine/profinfer-agent
		[ -n "$dry" ] || agent=$("$REPO/scripts/build-agent.sh" --arch "$machine")
	fi
	[ -n "$dry" ] || [ -r "$agent" ] || die "there is no agent at $agent" "Build it with scripts/build-agent.sh, and leave out --agent."
	[ -z "$dry" ] || return 0
	agent=$(realpath "$agent")
	case $(od -An -tx1 -N4 "$agent" | tr -d ' ') in 7f454c46) ;; *) die "$agent is no program (not an ELF file)" "Build one with scripts/build-agent.sh." ;; esac
	elf=$(od -An -tu2 -j18 -N2 "$agent" | tr -d ' ')
	case $machine:$elf in
	aarch64:183 | x86_64:62) ;;
	*) die "the board is $machine, and $agent is made for another machine (ELF number $elf)" "Build it for the board: scripts/build-agent.sh --arch $machine" ;;
	esac
}

# same FILE PATH [size]: is PATH on the board equal to FILE? Compares the best checksum that the board can compute,
# or, for a file that was just sent, the size alone.
same() {
	there "sha256sum $2 2>/dev/null || md5sum $2 2>/dev/null || wc -c <$2" || return 1
	local theirs=${ANSWER%%[[:space:]]*}
	case ${#theirs} in
	64) [ "$theirs" = "$(sha256sum <"$1" | cut -c1-64)" ] ;;
	32) [ "$theirs" = "$(md5sum <"$1" | cut -c1-32)" ] ;;
	*) [ "${3:-}" = size ] && [ "$theirs" = "$(stat -c %s "$1")" ] ;;
	esac
}

copy_agent() {
	if same "$agent" "$there_agent" && [ -z "$dry" ]; then note "the board has this file already"
	else send_agent; fi
	there "chmod 755 $there_agent" || refuse "the copy cannot be made executable" "Choose another place: --dir DIR"
}
send_agent() {
	there "mkdir -p $dir" || refuse "there is no folder $dir on the board, and it cannot be made" "Choose one that can be written to: --dir DIR"
	if ! link_put "$agent" "$there_agent.new"; then
		local said=$ANSWER
		there "rm -f $there_agent.new; df $dir" || true
		ANSWER=$said$'\n'$ANSWER
		case $said in
		*[Nn]"o space"*) refuse "the board has no room for the agent in $dir ($(stat -c %s "$agent") bytes)" "Delete what is not needed there, or choose another place: --dir DIR" ;;
		*) refuse "the agent cannot be copied to $dir" "Check that the folder is writable and has room, or choose another place: --dir DIR" ;;
		esac
	fi
	same "$agent" "$there_agent.new" size || [ -n "$dry" ] || refuse "the copy on the board is not the file that was sent" "Run this again; if it happens again, the link or the board's memory is at fault."
	there "mv $there_agent.new $there_agent" || refuse "the copy cannot replace $there_agent" "Choose another place: --dir DIR"
}

try_agent() {
	there_as_root "$there_agent --version" || cannot_run
	[ -n "$dry" ] || note "$ANSWER"
}

# Find out why the copied program does not run.
cannot_run() {
	local said=$ANSWER status=$STATUS mount enforce denied
	there_as_root "df $dir | tail -n 1" || true
	mount=${ANSWER##*[[:space:]]}
	there_as_root "cat /proc/mounts" || true
	mount=$(awk -v m="$mount" '$2 == m { print }' <<<"$ANSWER")
	there_as_root "getenforce" && enforce=$ANSWER || enforce='no SELinux'
	there_as_root "dmesg | grep 'avc: *denied' | grep profinfer | tail -n 1" || true
	denied=$ANSWER
	ANSWER=$said STATUS=$status
	case $said in
	*"Permission denied"*)
		case $mount in *noexec*) refuse "no program may be run from $dir: it is mounted noexec" "Choose another place: --dir DIR (mount lists them)" ;; esac
		if [ "$enforce" = Enforcing ]; then
			ANSWER+=$'\n'"getenforce: Enforcing"${denied:+$'\n'"dmesg: $denied"}
			refuse "SELinux does not let the agent run from $dir" "Run setenforce 0 as root on the board (until the next boot), or choose a folder whose label allows programs: --dir DIR"
		fi ;;
	*"xec format"* | *"not executable"* | *"not found"* | *"syntax error"*)
		refuse "the board's kernel cannot run a program of this format" "It must be the static build for this machine: scripts/build-agent.sh; leave out --agent." ;;
	esac
	ANSWER+=$'\n'"getenforce: $enforce"${denied:+$'\n'"dmesg: $denied"}
	refuse "the agent does not run on the board" "Try it there by hand: $there_agent --version"
}

# End the agent of an earlier run, if it is still running. With SIGTERM it writes its last records.
stop_agent() {
	there_as_root "cd $dir 2>/dev/null && p=\$(cat profinfer-agent.pid 2>/dev/null) && grep -q profinfer-agent /proc/\$p/comm 2>/dev/null || exit 0; $(end_process)" ||
		refuse "the agent that runs on the board does not end" "Examine it on the board: ps | grep profinfer"
}
end_process() {
	# shellcheck disable=SC2016  # for the board's shell
	printf %s 'kill $p; i=0; while [ -d /proc/$p ] && [ $((i+=1)) -lt 24 ]; do sleep 0.5; done; [ ! -d /proc/$p ] || kill -KILL $p'
}

# serve ADDRESS: start the agent at this address
serve() {
	local command
	command="\$(command -v setsid || command -v nohup) ./profinfer-agent serve --listen $1 --port-file profinfer-agent.port${target[*]+ $(words "${target[@]}")}"
	# With setsid the agent outlives the connection. Not every board has setsid.
	there_as_root "cd $dir; rm -f $port_file; $command </dev/null >profinfer-agent.log 2>&1 & echo \$! >$pid_file" || refuse "the agent cannot be started"
	there_as_root "cd $dir; i=0; until [ -f $port_file ]; do [ -d /proc/\$(cat profinfer-agent.pid) ] && [ \$((i+=1)) -lt 20 ] || { cat profinfer-agent.log; exit 1; }; sleep 0.3; done" && return
	case $ANSWER in
	*"ddress in use"* | *"ddress already in use"*) refuse "port $board_port of the board is taken by another program" "Is it an agent pushed in another way, or to another folder? End it the same way with --stop. Else choose another port there: --board-port N" ;;
	*) refuse "the agent does not serve" "Read its log on the board: $log" ;;
	esac
}

remove_agent() {
	there_as_root "rm -f $there_agent $there_agent.new $log $pid_file $port_file $recording $there_key" || refuse "the agent's files cannot be removed" "By hand: rm $dir/profinfer-agent*"
	# Remove a folder that this script made; keep folders of the system.
	case $dir in */profinfer) there_as_root "[ ! -d $dir ] || rmdir $dir" || note "$dir is not empty, so it is not removed" ;; esac
}
