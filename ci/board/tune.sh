#!/usr/bin/env bash
# tune.sh [--keep DIR] [--kernel K]      the number of threads that `analyze tune` names is within 3 % of the best of a full sweep, on a board
#
# The emulated board has two Cortex-A55 (CPUs 0 and 1) and two Cortex-A76 (2 and 3); the A55 have a
# third of the speed of the A76. Speeds are in instructions per second (--pace of scripts/board.sh),
# so that a setting takes the same time in each run. `analyze tune --run` measures 1, 2 and 4
# threads on the slow, the fast and all CPUs over ssh. The same settings run again without the
# agent, and the engine's own clock judges the recommended setting. This shows that the
# recommendation is right if cores differ, not how fast a board is. PACE is the speed at 100 %, in
# million instructions per second (100), and ROUNDS the number of runs of all settings (3). Both
# CPUs of this machine must be free. 17 minutes. Run by hand.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
. "$REPO/ci/tune/proof.sh"
kernel=(--kernel 6.12)
board_args "$@"
[ ${#only[@]} = 0 ] || die "unknown argument '${only[0]}'" "See $0 --help"
PACE=${PACE:-100} FAST=40 SLOW=13
rounds=${ROUNDS:-3}
begin
analyze=${PROFINFER_ANALYZE:-$CARGO_TARGET_DIR/debug/analyze}
[ -x "$analyze" ] || tests_build
there() { $board run "$1" </dev/null; }

boot "${kernel[@]}" --big-little --pace "$PACE" || die "the board does not boot"
$board speed $FAST 2 3
$board speed $SLOW 0 1
command="nodes -m /model.gguf -t {threads} -p 4 -n 24"
say "one recording"
there "profinfer-agent record --full --bench --out /tmp/t.pfi -- taskset c ${command//'{threads}'/2}" >"$dir/recording.log" 2>&1 || die "the recording failed" "$(tail -n 3 "$dir/recording.log")"
$board get /tmp/t.pfi "$dir/recording.pfi"
# Its kernel reports no cache sizes, so its read ceilings are doubtful, and there are no estimates from doubtful ceilings.
"$analyze" tune "$dir/recording.pfi" --out "$dir/estimated" || note "nothing is estimated here"
say "a series"
"$analyze" tune --run --on "$board run" --agent profinfer-agent --threads 1,2,4 --cpus '0-1 2-3 0-3' --rounds "$rounds" --out "$dir/series" -- "$command"
say "the sweep"
sweep "$dir/sweep" "$dir/series" "$command"
python3 "$REPO/ci/tune/judge.py" "$dir/series/tune.json" "$dir/estimated/tune.json" "$dir/sweep"
note "in $SECONDS s"
