# shellcheck shell=bash disable=SC2034,SC2154  # where, port and board_port are scripts/push.sh's
# A board reached with hdc (OpenHarmony). hdc always exits with status 0, so read its output instead.
# Sourced by scripts/push.sh.
DEFAULT_DIR=/data/local/tmp
# hdc removes all double quotes from what it sends to the board's shell, so the board's shell makes them.
DOUBLE_QUOTE="'\$(printf '\\042')'"

hdc_run() {
	run hdc "$@" || return
	hdc_read
}
hdc_run_quietly() {
	run_quietly hdc "$@" || return
	hdc_read
}
# The answer contains the error. hdc up to SDK 4.1 mixes its own log into it if its output is a pipe.
hdc_read() {
	ANSWER=$(sed '/^\[[WD]\]\[/d' <<<"$ANSWER")
	case $ANSWER in *"[Fail]"* | *"[E00"* | *"Connect server failed"*) STATUS=1; return 1 ;; esac
}

# "KEY STATE" of every target; `list targets -v` prints KEY, kind of link, state, host, program. A board that was once connected, or
# never answered, stays in the list as Offline or Unknown. A serial line that was not opened is Ready.
targets() {
	hdc_run list targets -v || hdc_refuse "hdc does not work"
	TARGETS=$(awk '$1 != "[Empty]" && NF >= 3 { print $1, $3 }' <<<"$ANSWER")
}
state_of() { awk -v k="$1" '$1 == k { print $2; exit }' <<<"$TARGETS"; }
connected() { awk '$2 == "Connected" { print $1 }' <<<"$TARGETS"; }

# tconn ADDRESS: show its answer. A port that is not a number ends the server of some hdc versions.
tconn() {
	case $where in
	*:*[!0-9]* | *: | *,*[!0-9]* | *,) die "'$where' is no address of a board" "By network ADDRESS:PORT, by serial line DEVICE,SPEED, for example 192.168.1.7:10178 or /dev/ttyUSB0,921600" ;;
	esac
	hdc_run tconn "$where" || true
	note "${ANSWER:-hdc says nothing to it}"
}

# Errors of hdc if a board cannot be used
hdc_refuse() {
	case $ANSWER in
	*nauthorized* | *E00000[234]*) refuse "the board has not allowed this machine to debug it" \
		"Confirm the dialog on its screen and run this again. Only if it was denied: hdc kill first, which makes the board ask once more." ;;
	*"Connect server failed"*) refuse "hdc's own server cannot be reached" \
		"Does another program have its port (8710, or OHOS_HDC_SERVER_PORT)? ss -ltnp 'sport = :8710'; else hdc kill -r, and run this again." ;;
	*"need connect-key"* | *"Not match target"* | *"not founded or connected"* | *E001005*) refuse "hdc has no such board" "List the known boards: hdc list targets -v" ;;
	*) refuse "$1" "Restart its server: hdc kill -r; then hdc list targets -v" ;;
	esac
}

link_reach() {
	local state said=''
	[ -n "$dry" ] || have hdc || die "there is no hdc in PATH" \
		"It is part of the OpenHarmony SDK's command line tools (folder toolchains); no package of this system has it."
	targets
	if [ -z "$dry" ]; then
		case $where in
		*:* | *,*) # by network or serial line
			case $(state_of "$where") in
			Connected | Unauth*) ;;
			*) tconn; said=$ANSWER; targets ;;
			esac ;;
		esac
		[ -n "$where" ] || only_board
		state=$(state_of "$where")
		ANSWER=${TARGETS:-no targets}${said:+$'\n'$said}
		case $state in
		'') refuse "no board of the connect key '$where' is connected" "Name one of those." ;;
		Connected) ;;
		Unauth*) ANSWER=Unauthorized; hdc_refuse "" ;;
		*) refuse "hdc has an entry of the board, but it is $state" "Is it on, and reachable at this address? Then hdc kill -r; else plug it in again." ;;
		esac
	fi
	: "${where:=CONNECTKEY}" # a dry run does not know it
	SHELL_THERE=(hdc -t "$where" shell)
}

# Without a key: the connected board, if there is only one.
only_board() {
	local keys
	keys=$(connected)
	ANSWER=${TARGETS:-no targets}
	if [ -z "$keys" ]; then
		! grep -q ' Unauth' <<<"$TARGETS" || hdc_refuse ""
		refuse "no board is connected by hdc" \
			"Plug in its USB cable and switch on USB debugging in its developer options;" \
			"by network: scripts/push.sh hdc ADDRESS:10178; by serial line: hdc tconn PORT,921600"
	fi
	[ "$(wc -l <<<"$keys")" = 1 ] || refuse "several boards are connected by hdc" "Name one: scripts/push.sh hdc ${keys%%$'\n'*}"
	where=$keys
}

link_root() {
	there "id -u"
	[ -z "$dry" ] && [ "$ANSWER" != 0 ] || return 0
	local said i
	hdc_run -t "$where" smode || true
	said=$ANSWER
	if [ "$STATUS" = 0 ]; then # the daemon starts anew
		for ((i = 0; i < 20; i++)); do
			sleep 0.5
			case $where in *:*) run_quietly hdc tconn "$where" || true ;; esac
			hdc_run_quietly list targets -v && awk -v k="$where" '$1 == k && $3 == "Connected" { found = 1 } END { exit !found }' <<<"$ANSWER" && break
		done
		there "id -u" && [ "$ANSWER" = 0 ] && return
		said="user $ANSWER after hdc smode"
	fi
	ANSWER=$said
	refuse "hdc is not root on the board" \
		"Attaching probes needs root: hdc smode gives it on images built for development (const.debuggable is 1); flash one of those."
}

link_put() { hdc_run -t "$where" file send "$1" "$2" && { [ -n "$dry" ] || [[ $ANSWER == *"FileTransfer finish"* ]]; }; }
link_get() { hdc_run -t "$where" file recv "$1" "$2" && { [ -n "$dry" ] || [[ $ANSWER == *"FileTransfer finish"* ]]; }; }

# forwarded_by: the key of the board to which the port is forwarded; `-` if hdc does not print it (up to SDK 4.0: 'tcp:A tcp:B'<tab>[Forward])
forwarded_by() {
	tr -s "' \t" ' ' <<<"$ANSWER" | awk -v here="tcp:$port" -v there="tcp:$board_port" '
		$NF ~ /\[Forward\]/ && $(NF - 2) == here && $(NF - 1) == there { print (NF == 4 ? $1 : "-"); exit }'
}
link_forwarded() {
	local key
	hdc_run -t "$where" fport ls || return
	key=$(forwarded_by)
	[ "$key" = "$where" ] || { [ "$key" = - ] && [ "$(connected)" = "$where" ]; }
}
link_forward() {
	hdc_run -t "$where" fport "tcp:$port" "tcp:$board_port" || return
	[ -n "$dry" ] || [[ $ANSWER == *"result:OK"* ]]
}
# Never remove a rule of another board. The board of a rule without a key is unknown, so only a connected board may remove it.
link_unforward() {
	local key
	if [ -z "$dry" ]; then
		have hdc && hdc_run_quietly fport ls || return 0
		key=$(forwarded_by)
		case $key in
		'') return 0 ;;
		-) [ -z "$where" ] || { targets && [ "$(state_of "$where")" = Connected ]; } || return 0 ;;
		*) [ "${where:-$key}" = "$key" ] || return 0 ;;
		esac
	fi
	run hdc fport rm "tcp:$port" "tcp:$board_port" || true
}
link_close() { :; }
link_leave() { :; }
