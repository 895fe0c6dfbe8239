#!/usr/bin/env bash
# memory.sh [--kernel K] [--keep DIR]      a call that does not return, because its control group has too little memory
#
#   --kernel K   of the emulated board (default: 7.2)
#   --keep DIR   leave what was brought back from the board there
#
# After the engine has loaded its model, memory.high of its group becomes 1 MiB: the kernel then
# stalls the engine at every page that it needs again. The agent is stopped after a while. The agent
# and `analyze` must exit with 3, and the recording must name the call and the memory of the group.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
kernel=(--kernel 7.2)
board_args "$@"
begin
[ -n "${PROFINFER_STATIC_AGENT:-}" ] || "$REPO/scripts/build-agent.sh" >/dev/null
tests_build
cat >"$dir/in-group.sh" <<'BOARD'
cd /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/engine
mkfifo go
sh -c 'echo $$ >/sys/fs/cgroup/engine/cgroup.procs && exec nodes -m /model.gguf -t 2 -p 500 -n 2 -c 2048 --pause <go >calls.txt 2>/dev/null' &
exec 3>go
for _ in $(seq 120); do ! grep -q ready calls.txt || break; sleep 0.5; done
pid=$(sed -n 's/^ready\t\([0-9]*\).*/\1/p' calls.txt)
echo 1M >/sys/fs/cgroup/engine/memory.high
profinfer-agent record --full --out t.pfi --pid "$pid" 2>agent.log &
agent=$!
for _ in $(seq 60); do [ "$({ wc -c <t.pfi || echo 0; } 2>/dev/null)" -lt 3000 ] || break; sleep 0.5; done
sleep 2
echo >&3
sleep 10
kill -INT $agent
status=0
wait $agent || status=$?
cat agent.log >&2
kill -9 "$pid"
exit $status
BOARD
say "board: ${kernel[*]}, memory.high of 1 MiB"
boot "${kernel[@]}" || die "the board does not boot"
$board put "$dir/in-group.sh"
status=0
$board run "sh /tmp/in-group.sh" || status=$?
[ "$status" = 3 ] || die "record exited with $status instead of 3"
$board get /tmp/t.pfi "$dir/memory.pfi"
leave || true
status=0
"$ANALYZE" "$dir/memory.pfi" -o "$dir/profile" >"$dir/analyze.log" || status=$?
[ "$status" = 3 ] || die "analyze exited with $status instead of 3" "$(head -n 5 "$dir/analyze.log")"
python3 - "$dir/profile/summary.json" <<'CHECK'
import json
import sys
ending = json.load(open(sys.argv[1], encoding="utf-8"))["ending"]
print(ending["sentence"])
memory = ending["memory"]
assert (ending["code"], ending["state"], ending["traced"]) == ("call_unreturned", "bad", False), ending
assert memory["is_reason"] and memory["high_bytes"] == 1 << 20 and memory["high_events"] > 0, memory
CHECK
