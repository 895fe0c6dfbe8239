#!/usr/bin/env bash
# scenarios.sh [--out DIR] [--list] [--test] [NAME...]      requests, tokens and their times, against the engine's own figures
#
# Runs llama.cpp under the agent in many ways (one and four slots, cached prefixes, context shifts, cancelled requests,
# speculation of all types, images, embeddings, tools), and compares ProfInfer's requests with what the engine reports:
# cached, computed and output tokens of each, guesses and accepted guesses. Counts must be equal, except for those scenarios
# that ci/scenarios/table.py names with a reason, which must differ. Times are shown as the
# median and the largest deviation of the time to the first token and of the answer's time. Over all scenarios with one
# request at a time, times of at least 50 ms must not differ from the engine's by more than 2 % in the median.
#
#   engine, ProfInfer    requests: cached + computed → output tokens, accepted/guessed tokens
#   ?                    not known
#
# --list: names of the scenarios, and what they are. --test: the tests of these scripts, which need no engine.
# NAME: only these. --out DIR: keep the recordings there.
# Needs root and BPF, and 5 minutes. PROFINFER_AGENT and PROFINFER_ANALYZE name other programs.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
out='' list='' names=()
while [ $# -gt 0 ]; do
	case $1 in
	--out)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		out=$2
		shift
		;;
	--list) list=1 ;;
	--test) cd "$REPO/ci/scenarios" && exec python3 -B -m unittest discover -q -t . -s tests ;;
	-h | --help) usage_from_head "$0"; exit ;;
	-*) die "unknown argument '$1'" "See $0 --help" ;;
	*) names+=("$1") ;;
	esac
	shift
done
cd "$REPO"
scenarios() { PYTHONDONTWRITEBYTECODE=1 python3 ci/scenarios/run.py "$@" "${names[@]}"; }
if [ -n "$list" ]; then scenarios --list; exit; fi
needed=$(scenarios --models)
! cannot_trace "scenarios" || exit 0
engine=$(scripts/engine.sh)
ensure_venv tools
programs
if [ -z "$out" ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
# Ceilings of this machine have no part in the counts.
export PROFINFER_CEILINGS='' OMP_WAIT_POLICY=passive

# The models of all checks, those of ci/archs.sh, and those that only the scenarios need.
models=$CACHE/models own=$CACHE/scenarios
archs_hash=$(archs_hash)
own_hash=$archs_hash-$(hash_of ci/scenarios/{models,projectors}.py)
while read -r kind name; do
	case $kind in
	model) scripts/model.sh "$name" >/dev/null </dev/null ;;
	arch) generated "$ARCHS" "$archs_hash" "$name" scripts/gen_archs.py ;;
	own) generated "$own" "$own_hash" "$name" ci/scenarios/models.py ;;
	esac
done <<<"$needed"
say "scenarios: requests, against the engine's own figures"
scenarios --engine "$engine" --agent "$agent" --analyze "$analyze" --out "$out" \
	--folder "$own" --folder "$models" --folder "$ARCHS"
