#!/usr/bin/env bash
# causes.sh [OPTION…] [CASE…]      plants causes in and next to a real engine, and scores what the product concludes
#
#   --list         print the cases: name, kind, question, cause
#   --report       print the scores of this commit's results, the worst first, and the targets
#   --whole        the same; the exit status is 1 if a case has no result (for scripts/release.sh)
#   --few          the cases of `scripts/test.sh --all`: three, and one that changes with the commit
#   --kind KIND    only cases of this kind: host, small, quiet, board or guest
#   --again        run cases again that have a result
#   --pairs N      number of pairs (default: 5; 10 for small losses); fewer than 5 are a trial: shown, not kept
#   --wait S       longest wait for a quiet machine before a case (default: 300)
#   --keep DIR     keep recordings and logs
#   --rescore COMMIT  analyze the kept recordings of that commit's results again, and print their scores
#   --test         only the tests of the scores, which need no engine
#
# A case records the engine with a planted cause, and again with the remedy, in turns. The engine's
# own clock is the truth; both sides are traced, so that the cost of the probes is in neither. The
# table of cases is ci/causes/cases.toml, docs/battery.md explains the scores. Results are kept per
# commit that changed the programs in the cache, so that a battery that was ended goes on. One case runs at a time; all of them take
# an hour and a half on a quiet machine. The exit status is 1 if a cause was not found or blamed, if a
# quiet run has a finding that does not hold, or, with --report, if a target is missed.
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
case " $* " in *" --rescore "*) ;; *) ! cannot_trace "planted causes" || exit 0 ;; esac
PROFINFER_AGENT=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent} PROFINFER_ANALYZE=${PROFINFER_ANALYZE:-$CARGO_TARGET_DIR/debug/analyze}
if ! [ -x "$PROFINFER_AGENT" ] || ! [ -x "$PROFINFER_ANALYZE" ]; then tests_build; fi
# Nothing that earlier recordings of this machine left.
export PROFINFER_AGENT PROFINFER_ANALYZE PROFINFER_CEILINGS=
with_lock causes battery "$@"
