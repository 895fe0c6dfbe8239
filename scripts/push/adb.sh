# shellcheck shell=bash disable=SC2034,SC2154  # where, port and board_port are scripts/push.sh's
# A board reached with adb (Android, and Linux systems with its daemon). Sourced by scripts/push.sh.
DEFAULT_DIR=/data/local/tmp

# "SERIAL STATE..." of every device
devices() {
	run adb devices || refuse "adb does not work" "Run it alone and read its answer: adb kill-server; adb devices"
	DEVICES=$(sed -n 's/^\([^ \t*]\{1,\}\)[ \t]\{1,\}\([a-z].*\)$/\1 \2/p' <<<"$ANSWER" | grep -v '^List of' || true)
}

link_reach() {
	local state
	[ -n "$dry" ] || have adb || need_pkgs adb
	where=${where:-${ANDROID_SERIAL:-}}
	devices
	case $where in
	*:*) # by network: adb forgets those when its server ends
		if ! grep -qF "$where " <<<"$DEVICES"; then
			run adb connect "$where" || true
			devices
		fi ;;
	esac
	if [ -z "$dry" ]; then
		ANSWER=$DEVICES
		[ -n "$DEVICES" ] || { ANSWER="no devices"; refuse "no board is connected by adb" \
			"Plug in its USB cable and switch on USB debugging in its developer options;" \
			"by network (adb tcpip 5555 made it listen): scripts/push.sh adb ADDRESS:5555"; }
		if [ -z "$where" ]; then
			[ "$(wc -l <<<"$DEVICES")" = 1 ] || refuse "several boards are connected by adb" "Name one: scripts/push.sh adb ${DEVICES%% *}"
			where=${DEVICES%% *}
		fi
		state=$(awk -v s="$where" '$1 == s { $1 = ""; print substr($0, 2) }' <<<"$DEVICES")
		[ -n "$state" ] || refuse "no board of the serial '$where' is connected" "Name one of those."
		usable "$state"
	fi
	: "${where:=SERIAL}" # a dry run does not know it
	SHELL_THERE=(adb -s "$where" shell)
}

usable() {
	case $1 in
	device) ;;
	unauthorized*) refuse "the board has not allowed this machine to debug it" \
		"Confirm the dialog on its screen. Without a screen: append ~/.android/adbkey.pub to /data/misc/adb/adb_keys on the board," \
		"then adb kill-server, and run this again." ;;
	offline*) refuse "adb knows the board, but it does not answer" "adb reconnect offline; else plug it in again, or restart adbd on it." ;;
	"no permissions"*) refuse "this user may not open the board's USB device" \
		"apt-get install android-sdk-platform-tools-common (udev rules), join the group plugdev, plug the board in again." ;;
	*) refuse "the board is in the state '$1'" "It must be booted to its system: adb -s $where reboot" ;;
	esac
}

link_root() {
	there "id -u"
	[ -z "$dry" ] && [ "$ANSWER" != 0 ] || return 0
	run adb -s "$where" root || true
	local said=$ANSWER
	case $said in
	*"cannot run as root"* | *"not allowed"* | *disabled*) ;;
	*) # the daemon starts anew
		sleep 1
		case $where in *:*) run adb connect "$where" || true ;; esac
		run timeout 20 adb -s "$where" wait-for-device || true
		there "id -u" && [ "$ANSWER" = 0 ] && return ;;
	esac
	there "su 0 id -u" && [ "$ANSWER" = 0 ] && { ROOT_BY=(su 0 sh -c); return; }
	there "su -c 'id -u'" && [ "$ANSWER" = 0 ] && { ROOT_BY=(su -c); return; }
	ANSWER=$said
	refuse "adb is not root on the board, and su does not work" \
		"Attaching probes needs root: use a userdebug or eng build (adb root works there), or a board with su."
}

link_put() { run adb -s "$where" push "$1" "$2"; }
link_get() { run adb -s "$where" pull "$1" "$2"; }

link_forwarded() {
	run adb forward --list && grep -qxF "$where tcp:$port tcp:$board_port" <<<"$ANSWER"
}
link_forward() { run adb -s "$where" forward --no-rebind "tcp:$port" "tcp:$board_port"; }
link_unforward() {
	have adb && run_quietly adb forward --list || return 0
	local serial
	serial=$(awk -v l="tcp:$port" '$2 == l { print $1; exit }' <<<"$ANSWER")
	if [ -n "$dry" ] || { [ -n "$serial" ] && [ "${where:-$serial}" = "$serial" ]; }; then
		run adb -s "${serial:-$where}" forward --remove "tcp:$port" || true
	fi
}
link_close() { :; }
link_leave() { :; }
