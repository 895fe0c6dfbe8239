#!/usr/bin/env bash
# promise.sh      findings keep their promises: each cause that can be provoked on this machine, its remedy, and quiet runs
#
# A real engine runs with a cause (a busy task on one of its CPUs, a quota, more threads than CPUs,
# threads that sleep at barriers, a memory limit below the model, ...). The script reads the
# finding, and the engine runs with the remedy: the gain must be within the predicted interval.
# Twenty quiet runs must have no finding. The time for which one thread is stopped must be in its
# class. For a model of a billion weights, at most 2 % of the decode time may be unknown. Compares
# times, so it needs an idle machine for about four minutes, and is not part of the test command.
# Run by hand.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/variant_folder.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
! cannot_trace "promises of findings" || exit 0
PROFINFER_ENGINE_DIR=$(scripts/engine.sh)
scripts/model.sh "${TEST_MODELS[@]}" big-1b-q4km >/dev/null
export PROFINFER_ENGINE_DIR PROFINFER_MODELS_DIR=$CACHE/models
# The same engine with code for old processors only.
case $(uname -m) in
x86_64) generic=sse42 ;;
*) generic=armv8.0_1 ;;
esac
PROFINFER_GENERIC_ENGINE_DIR=$(variant_folder "$generic" "${PROFINFER_ENGINE_DIR%/bin}")
export PROFINFER_GENERIC_ENGINE_DIR
tests_build
tests_of oracle --include-ignored --nocapture --test-threads 1 promise:: planted::thread budget::little_is_unknown_of
