#!/usr/bin/env bash
# fuzz.sh [SECONDS [TARGET...]]      run the fuzz targets, each for so many seconds (60)
#
# The targets are in fuzz/fuzz_targets. What a run learns is kept in the cache (fuzz/TARGET), so that the next one goes on from
# there. It begins with the recording in host-analyzer/tests/data and with small engines that the tests make. An input that
# fails is kept in fuzz/artifacts, and the last lines say how to run it again.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
seconds=${1:-60}
[ $# = 0 ] || shift
cd "$REPO"
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(accumulator engine predicted)
if ! have cargo-fuzz && [ ! -x "$CACHE/tools/bin/cargo-fuzz" ]; then
	say "cargo-fuzz, from crates.io"
	cargo install -q --locked --root "$CACHE/tools" cargo-fuzz >&2 || die "cargo could not install cargo-fuzz" "Is crates.io reachable from here?"
fi
PATH=$CACHE/tools/bin:$PATH

# Pieces of a recording, from different places of it.
seed_accumulator() {
	local from
	for from in 0 64 5000 40000; do
		tail -c "+$((from + 1))" host-analyzer/tests/data/demo.pfi | head -c 4096 >"$1/demo-$from"
	done
}
# Any bytes are the bits of a batch.
seed_predicted() { seed_accumulator "$1"; }
seed_engine() { PROFINFER_SEEDS=$1 tests_of engine --ignored damage::write_seeds >&2; }

failed=0
mkdir -p "$CACHE/fuzz"
for target in "${targets[@]}"; do
	corpus=$CACHE/fuzz/$target
	mkdir -p "$corpus"
	[ -n "$(ls -A "$corpus")" ] || "seed_$target" "$corpus"
	say "$target: $seconds s"
	# The sanitizer is a feature of nightly compilers that this one has too.
	if RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$CARGO_TARGET_DIR/fuzz cargo fuzz run "$target" "$corpus" -- \
		-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 >"$CACHE/fuzz/$target.log" 2>&1; then
		grep '^stat::' "$CACHE/fuzz/$target.log"
	else
		tail -n 60 "$CACHE/fuzz/$target.log" >&2
		failed=$((failed + 1))
	fi
done
echo "targets: $((${#targets[@]} - failed)) passed, $failed failed"
[ "$failed" = 0 ]
