# shellcheck shell=bash disable=SC2034,SC2154  # dry and WORK are scripts/push.sh's
# Runs commands here and on the board. Shows each one as a person would type it. Sourced by scripts/push.sh.

# words WORD...: the words for a shell, quoted only where necessary. If the connection to the board loses double quotes,
# DOUBLE_QUOTE is what replaces one inside single quotes.
DOUBLE_QUOTE='"'
words() {
	local word space=''
	for word; do
		case $word in
		'' | *[!A-Za-z0-9_@%+=:,./-]*)
			word=${word//\'/\'\\\'\'}
			printf "%s'%s'" "$space" "${word//\"/"$DOUBLE_QUOTE"}" ;;
		*) printf '%s%s' "$space" "$word" ;;
		esac
		space=' '
	done
}
show() { printf '  $ %s\n' "$*" >&2; }

# Terminals and hdc for Windows end lines with CR LF.
answer() { ANSWER=$(tr -d '\r\0' <"$WORK/answer"); }

# run WORD...: run a command here. Sets ANSWER to its output and STATUS to its exit status.
run() {
	show "$(words "$@")"
	run_quietly "$@"
}
run_quietly() {
	ANSWER='' STATUS=0
	[ -z "$dry" ] || return 0
	"$@" >"$WORK/answer" 2>&1 </dev/null || STATUS=$?
	answer
	return "$STATUS"
}

# there LINE: run the line in a shell on the board. Sets ANSWER and STATUS as `run` does.
# hdc and old versions of adb do not return the exit status, so the board prints it.
MARK=profinfer-status:
there() {
	show "$(words "${SHELL_THERE[@]}" "$1")"
	ANSWER='' STATUS=0
	[ -z "$dry" ] || return 0
	"${SHELL_THERE[@]}" "($1); echo $MARK\$?" >"$WORK/answer" 2>&1 </dev/null || true
	status_of_answer
}
status_of_answer() {
	answer
	# The board's standard error may come after it.
	if [[ $ANSWER =~ $MARK([0-9]+) ]]; then
		STATUS=${BASH_REMATCH[1]}
		ANSWER=${ANSWER/"${BASH_REMATCH[0]}"/}
		ANSWER=${ANSWER%$'\n'}
		return "$STATUS"
	fi
	refuse "the connection to the board ended before its answer" "Check that the board is up, then run this again: it does only what is missing."
}

# there_as_root LINE: the same as root, with the command that link_root found (empty: already root)
ROOT_BY=()
there_as_root() {
	if [ ${#ROOT_BY[@]} = 0 ]; then there "$1"; else there "${ROOT_BY[*]} $(words "$1")"; fi
}

# refuse TRIED ADVICE...: exit with what was tried, the answer, and what to do
refuse() {
	local tried=$1 lines=()
	shift
	mapfile -t lines < <(printf '%s\n' "${ANSWER:-nothing (exit status $STATUS)}" | sed '/^[[:space:]]*$/d' | tail -n 5)
	die "$tried" "${lines[@]/#/answer: }" "$@"
}
