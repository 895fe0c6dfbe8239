#!/usr/bin/env bash
# push.sh ssh [USER@]BOARD | adb [SERIAL] | hdc [CONNECTKEY] [OPTIONS] [-- TARGET]
#
# Copies the agent to a board, starts it there and forwards its port to this machine. Prints the command
# that captures. Shows every command before it runs. Run it again at any time: it does only what is missing.
#
#   -- TARGET        what to trace: `--name 'llama*'`, `--pid N`, or a command (default: the target of analyze)
#   --file           no port: record on the board (`-- COMMAND`, or --name, until Ctrl-C) and fetch the recording
#   --out FILE       output file of --file (default: recording.pfi)
#   --stop           end the agent and the forwarding, and remove the copied files
#   --agent FILE     the agent (default: built by scripts/build-agent.sh for the board's machine)
#   --dir DIR        folder on the board (default: ssh /tmp/profinfer; adb, hdc /data/local/tmp)
#   --port N         port on this machine (default: 7817)
#   --board-port N   port on the loopback address of the board (default: 7817)
#   --key FILE       no forwarding: the agent listens on the network, for hosts with this key; makes a missing key, and copies it
#   --address HOST   with --key: network address of the board (default: that of ssh, or of a board connected by network)
#   --dry-run        show the commands, and run none
#
# ssh: port and key from ~/.ssh/config or PUSH_SSH_OPTIONS='-p 2222 -i KEY'.
# docs/deploy.md: requirements of each way, OpenHarmony, tests.

set -eu
. "$(dirname "$0")/lib.sh"

case ${1:-} in
ssh | adb | hdc) way=$1; shift ;;
-h | --help) usage_from_head "$0"; exit ;;
*) die "no way to the board is named: ssh, adb or hdc" "$(usage_from_head "$0" | head -n 1)" ;;
esac
# shellcheck disable=SC2034  # read in scripts/push/
where='' agent='' dir='' port=7817 board_port=7817 out=recording.pfi file='' stop='' dry='' key='' address='' target=()
case ${1:-} in '' | -*) ;; *) where=$1; shift ;; esac
while [ $# -gt 0 ]; do
	case $1 in
	--file | --stop) printf -v "${1#--}" 1; shift ;;
	--dry-run) dry=1; shift ;;
	--agent | --dir | --port | --board-port | --out | --key | --address)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		name=${1#--}
		printf -v "${name//-/_}" %s "$2"
		shift 2
		;;
	--)
		shift
		# Options are passed to the agent, a command after its own `--`.
		case ${1:-} in '' | -*) target=("$@") ;; *) target=(-- "$@") ;; esac
		break
		;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "See $0 --help; put what to trace after \`--\`." ;;
	esac
done
for n in "$port" "$board_port"; do
	case $n in '' | *[!0-9]* | ??????*) die "'$n' is not a port" "Give a number from 1 to 65535." ;; esac
done
[ -z "$file" ] || [ ${#target[@]} -gt 0 ] || [ -n "$stop" ] || die "--file needs something to record" "scripts/push.sh $way${where:+ $where} --file -- COMMAND, or -- --name 'llama*'"

[ -z "$file" ] || [ -z "$key" ] || die "--file has no port, so it needs no key" "Leave out --file or --key."
[ -z "$file" ] || [ -w "$(dirname "$out")" ] || die "there is no folder $(dirname "$out") that can be written to" "Choose another place for the recording: --out FILE"

for f in run agent forward record key "$way"; do
	# shellcheck source=/dev/null
	. "$REPO/scripts/push/$f.sh"
done
dir=${dir:-$DEFAULT_DIR}
case $dir in /*) ;; *) die "--dir must be an absolute path on the board, not '$dir'" "For example --dir $DEFAULT_DIR" ;; esac
case $dir in *[!A-Za-z0-9_./-]*) die "--dir may have letters, digits and ./_- only, not '$dir'" "For example --dir $DEFAULT_DIR" ;; esac
# shellcheck disable=SC2034
there_agent=$dir/profinfer-agent log=$dir/profinfer-agent.log pid_file=$dir/profinfer-agent.pid port_file=$dir/profinfer-agent.port recording=$dir/profinfer-agent.pfi
there_key=$dir/profinfer-agent.key
WORK=$(mktemp -d)
trap 'link_leave; rm -rf "$WORK"' EXIT

if [ -n "$stop" ]; then
	say "ending the forwarding"
	link_unforward
	say "ending the agent, removing its files"
	link_reach
	link_root
	stop_agent
	remove_agent
	link_close
	exit
fi

say "checking the board"
link_reach
link_root
look_at_board
[ -z "$key" ] || key_address
[ -n "$file$key" ] || port_free
say "copying the agent"
find_agent
copy_agent
try_agent
stop_agent
if [ -n "$file" ]; then
	say "recording"
	status=0
	record || status=$?
	[ -n "$dry" ] || echo "analyze $(words "$out")"
	exit "$status"
fi
if [ -n "$key" ]; then
	say "sharing the key"
	key_make
	key_copy
	say "starting the agent"
	serve "tcp:0.0.0.0:$board_port --key $there_key"
	key_answers
	[ -n "$dry" ] || say "ready; next:"
	# shellcheck disable=SC2154  # look_at_board set it
	echo "analyze --board $profile --key $(words "$key" "tcp:$address:$board_port")"
	exit
fi
say "starting the agent"
serve "tcp:127.0.0.1:$board_port"
say "forwarding the port"
forward
[ -n "$dry" ] || say "ready; next:"
# shellcheck disable=SC2154  # look_at_board set it
echo "analyze --board $profile tcp:127.0.0.1:$port"
