# shellcheck shell=bash disable=SC2034,SC2154  # where, port and board_port are scripts/push.sh's
# The board by hdc (OpenHarmony). hdc always exits with status 0, so its output is read instead.
# Sourced by scripts/push.sh.
DEFAULT_DIR=/data/local/tmp

hdc_run() {
	run hdc "$@" || return
	case $ANSWER in *"[Fail]"* | *"[E00"*) STATUS=1; return 1 ;; esac
}

# "KEY STATE" of every target; `list targets -v` says KEY, kind of link, state, host, program
targets() {
	hdc_run list targets -v || hdc_refuse "hdc does not work"
	TARGETS=$(awk '$1 != "[Empty]" && NF >= 3 { print $1, $3 }' <<<"$ANSWER")
}

# What hdc says when a board cannot be used
hdc_refuse() {
	case $ANSWER in
	*nauthorized* | *E00000[234]*) refuse "the board has not allowed this machine to debug it" \
		"Confirm the dialog on its screen; then hdc kill, and run this again." ;;
	*"need connect-key"* | *"Not match target"* | *"not founded or connected"*) refuse "hdc has no such board" "List the known boards: hdc list targets -v" ;;
	*) refuse "$1" "Restart its server: hdc kill -r; then hdc list targets -v" ;;
	esac
}

link_reach() {
	local state
	[ -n "$dry" ] || have hdc || die "there is no hdc in PATH" \
		"It is part of the OpenHarmony SDK's command line tools (folder toolchains); no package of this system has it."
	targets
	case $where in
	*:* | *,*) # by network or serial line
		if ! grep -qF "$where " <<<"$TARGETS"; then
			hdc_run tconn "$where" || true
			targets
		fi ;;
	esac
	if [ -z "$dry" ]; then
		ANSWER=${TARGETS:-no targets}
		[ -n "$TARGETS" ] || refuse "no board is connected by hdc" \
			"Plug in its USB cable and switch on USB debugging in its developer options;" \
			"by network: scripts/push.sh hdc ADDRESS:10178; by serial line: hdc tconn PORT,921600"
		if [ -z "$where" ]; then
			[ "$(wc -l <<<"$TARGETS")" = 1 ] || refuse "several boards are connected by hdc" "Name one: scripts/push.sh hdc ${TARGETS%% *}"
			where=${TARGETS%% *}
		fi
		state=$(awk -v k="$where" '$1 == k { print $2 }' <<<"$TARGETS")
		case $state in
		'') refuse "no board of the connect key '$where' is connected" "Name one of those." ;;
		Connected | Ready) ;;
		Unauth*) hdc_refuse "" ;;
		*) refuse "hdc knows the board, but it is $state" "hdc kill -r; else plug it in again." ;;
		esac
	fi
	: "${where:=CONNECTKEY}" # a dry run does not know it
	SHELL_THERE=(hdc -t "$where" shell)
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
			run_quietly hdc list targets -v && grep -qF "$where" <<<"$ANSWER" && grep -q Connected <<<"$ANSWER" && break
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

link_forwarded() {
	hdc_run -t "$where" fport ls && tr -s ' \t' ' ' <<<"$ANSWER" | grep -F "$where" | grep -q "tcp:$port tcp:$board_port.*\[Forward\]"
}
link_forward() {
	hdc_run -t "$where" fport "tcp:$port" "tcp:$board_port" || return
	[ -n "$dry" ] || [[ $ANSWER == *"result:OK"* ]]
}
link_unforward() {
	have hdc && run_quietly hdc fport ls || return 0
	if [ -n "$dry" ] || [[ $ANSWER == *"tcp:$port tcp:$board_port"* ]]; then
		run hdc fport rm "tcp:$port" "tcp:$board_port" || true
	fi
}
link_close() { :; }
link_leave() { :; }
