#!/usr/bin/env bash
# causes.sh [OPTION…] [CASE…]      plants causes in and next to a real engine, and scores what the product concludes
#
#   --list         print the cases: name, kind, question, cause
#   --report       print the scores, the worst first, and the targets
#   --whole        the same; the exit status is 1 if a case has no result (for scripts/release.sh)
#   --analyze      analyze kept recordings again whose verdicts are of another commit, and record nothing
#   --few          the cases of `scripts/test.sh --all`: three, and one that changes with the commit
#   --kind KIND    only cases of this kind: host, small, quiet, board or guest
#   --again        run cases again that have a result
#   --pairs N      number of pairs (default: 5, up to 15 where they differ; 10 for small losses); fewer than 5 are a trial: shown, and no result
#   --wait S       longest wait for a quiet machine before a case (default: 300)
#   --test         only the tests of the scores, which need no engine
#
# A case records the engine with a planted cause, and again with the remedy, in turns. The engine's
# own clock is the truth; both sides are traced, so that the cost of the probes is in neither. The
# table of cases is ci/causes/cases.toml, docs/battery.md explains the scores. Results and recordings stay
# in the cache, in a folder of the commit that last changed what records, so that a battery that was ended
# goes on; after a change of `analyze` alone, their recordings are analyzed again. One case runs at a time;
# all of them take some six hours on a quiet machine. The exit status is 1 if a cause was not found or
# blamed, if a quiet run has a finding that does not hold, or, with --report, if a target is missed.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
cd "$REPO"
battery() { python3 -B ci/causes/battery.py --results "$CACHE/causes" "$@"; }
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--test) cd ci/causes && exec python3 -B -m unittest discover -q -t . -s tests ;;
--list | --report | --whole) battery "$@"; exit ;;
esac
case " $* " in *" --analyze "*) ;; *) ! cannot_trace "planted causes" || exit 0 ;; esac
PROFINFER_AGENT=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent} PROFINFER_ANALYZE=${PROFINFER_ANALYZE:-$CARGO_TARGET_DIR/debug/analyze}
if ! [ -x "$PROFINFER_AGENT" ] || ! [ -x "$PROFINFER_ANALYZE" ]; then tests_build; fi
# Nothing that earlier recordings of this machine left.
export PROFINFER_AGENT PROFINFER_ANALYZE PROFINFER_CEILINGS=
with_lock causes battery "$@"
