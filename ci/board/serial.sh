#!/usr/bin/env bash
# serial.sh      a full operator trace over the board's console line, at the speed of 1500000 baud
#
# The line is also the kernel's console, as on real boards: kernel messages arrive between frames. A
# real line of that speed carries 150 kB/s, and so does this one (throttle.py). Compares the
# engine's list and the trace as the kernel matrix does.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
board_args "$@"
throttle=''
before_end() { [ -z "$throttle" ] || kill "$throttle" 2>/dev/null || true; }
begin
cd "$REPO"
tests_build
say "a board whose console is the link"
boot --kernel 6.12 --serial "$dir/console" --model smollm2 || die "the board does not boot"
python3 ci/board/throttle.py "$dir/console" "$dir/line" 150000 &
throttle=$!
until [ -e "$dir/line" ]; do
	kill -0 "$throttle" 2>/dev/null || die "the line in front of the console does not work"
	sleep 0.1
done

out=$dir/boards/serial
mkdir -p "$out"
$board run "dmesg -n 8; (while sleep 0.2; do echo '<1>mmc0: a message of the kernel in between' >/dev/kmsg; done) >/dev/null 2>&1 &
	setsid profinfer-agent serve --once --listen serial:/dev/ttyAMA0@1500000 -- \
		nodes -m /model.gguf -t 2 -p 8 -n 4 --list >/tmp/nodes.txt 2>/tmp/agent.log </dev/null &"
timeout 120 "$ANALYZE" "serial:$dir/line@1500000" --wait 30 -o "$out/profile" --format json >"$dir/analyze.json" 2>"$dir/analyze.log" ||
	{ tail -n 5 "$dir/analyze.log" >&2; $board run "tail -n 3 /tmp/agent.log" >&2 || true; die "nothing came over the line"; }
mv "$out/profile/recording.pfi" "$out/trace.pfi"
$board get /tmp/nodes.txt "$out/nodes.txt"
note "$($board run 'tail -n 1 /tmp/agent.log')"
noise=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["link"]["noise_bytes"])' "$dir/analyze.json")
note "$noise bytes of noise on the line"
[ "$noise" -gt 0 ] || die "the kernel printed nothing: this run shows nothing"
switch_off
PROFINFER_BOARD_DIR=$dir/boards tests_of oracle --ignored board:: >"$dir/oracle.log" 2>&1 ||
	{ cat "$dir/oracle.log" >&2; die "the trace does not say what the engine's list says"; }
echo "serial line: $(stat -c %s "$out/trace.pfi") bytes of stream, nothing lost, in $SECONDS s"
