# shellcheck shell=bash disable=SC2034,SC2154  # the options are scripts/push.sh's
# A key shared by this machine and the board, instead of a forwarded port. Sourced by scripts/push.sh.

# key_address: the network address of the board, if the connection gives it
key_address() {
	[ -z "$address" ] || return 0
	case $way in
	ssh) address=${where##*@} ;;
	*) case $where in *.*.*.*:*) address=${where%:*} ;; esac ;;
	esac
	[ -n "$address" ] || die "the board's address in the network is not known" "Name it: --address HOST"
}

# key_make: make the key file, readable for its owner alone; use an existing one unchanged
key_make() {
	local mode
	if [ -e "$key" ]; then
		mode=$(stat -c %a "$key")
		case $mode in ?00) return 0 ;; esac
		die "others than its owner have rights to $key (mode $mode)" "chmod 600 $(words "$key"); where others may have read it, remove it: a new one is made."
	fi
	show "umask 077; make a key of 32 random bytes >$(words "$key")"
	[ -z "$dry" ] || return 0
	local board secret
	board=$(printf %s "$address" | tr -c 'A-Za-z0-9_.@-' - | cut -c 1-64)
	secret=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
	[ ${#secret} = 64 ] || die "no random bytes can be read" "Check /dev/urandom."
	# noclobber: do not overwrite a file that appeared in the meantime
	(set -C; umask 077; printf 'profinfer-key 1\n%s\n%s\n' "$board" "$secret" >"$key") 2>/dev/null ||
		die "the key cannot be written to $key" "Choose another place: --key FILE"
}

# key_copy: copy the key over the trusted connection. Create the file with its mode before the key is written.
key_copy() {
	there "umask 077; rm -f $there_key; : >$there_key" || refuse "the key's file cannot be made in $dir" "Choose another folder: --dir DIR"
	link_put "$key" "$there_key" || refuse "the key cannot be copied to $dir" "Check that the folder is writable and has room, or choose another place: --dir DIR"
	there "chmod 600 $there_key" || refuse "the key's mode cannot be set" "Choose another folder: --dir DIR"
	same "$key" "$there_key" || [ -n "$dry" ] || refuse "the key on the board is not the one that was sent" "Run this again."
}

key_answers() {
	reaches_agent "$address" "$board_port" ||
		{ ANSWER="the connection did not reach it"; refuse "the agent does not answer at $address port $board_port" \
			"Name the board's address: --address HOST; let the port through its firewall, or leave --key out: the port is forwarded then."; }
}
