#!/usr/bin/env bash
# fuzz.sh [TARGET...] [--seconds S | --executions N | --long] [--jobs J] [--merge]      long runs of the fuzz targets, with what they reached
#
#   --seconds S      run each target for S seconds (60)
#   --executions N   run each target with N inputs
#   --long           run each target with the number of inputs in ci/fuzz/long.txt: 10^9 in all, some hours of one CPU
#   --jobs J         number of processes per target (1)
#   --merge          put the inputs that are needed for the same coverage into fuzz/corpus, those kept there first
#
# Without a target: all of fuzz/fuzz_targets. The cache keeps the corpus of a run (fuzz/TARGET), so
# that the next run continues from there. It also keeps failing inputs (fuzz/artifacts), and the
# last lines name them: fix the bug, and add the input to fuzz/corpus/TARGET. Uses the compiler's
# own coverage, without a sanitizer: the targets have no unsafe code of ours, so a stable compiler
# is enough, and a codec runs several times as fast. `cargo fuzz run TARGET` does the same with a
# sanitizer, and needs nightly.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
seconds=60 executions=-1 long='' jobs=1 merge='' targets=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage_from_head "$0"; exit ;;
	--seconds) seconds=${2:?--seconds S} executions=-1; shift ;;
	--executions) executions=${2:?--executions N} seconds=0; shift ;;
	--long) long=1 seconds=0 ;;
	--jobs) jobs=${2:?--jobs J}; shift ;;
	--merge) merge=1 ;;
	-*) die "unknown option '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	*) targets+=("$1") ;;
	esac
	shift
done
cd "$REPO"
if [ ${#targets[@]} = 0 ]; then
	for program in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$program" .rs)"); done
fi
for target in "${targets[@]}"; do
	[ -f "fuzz/fuzz_targets/$target.rs" ] || die "no target '$target' in fuzz/fuzz_targets" "There are: $(basename -s .rs fuzz/fuzz_targets/*.rs | tr '\n' ' ')"
done
have c++ || need_pkgs g++ # libFuzzer itself is built from its sources

# Coverage as libFuzzer wants it. The host's triple is named, so that build scripts are built without.
triple=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Cpasses=sancov-module"
for option in level=4 inline-8bit-counters pc-table trace-compares; do flags+=" -Cllvm-args=-sanitizer-coverage-$option"; done
flags+=" -Ccodegen-units=1"
bins=()
for target in "${targets[@]}"; do bins+=(--bin "$target"); done
say "building ${#targets[@]} targets"
RUSTFLAGS=$flags cargo build -q --locked --release --manifest-path fuzz/Cargo.toml --target "$triple" \
	--target-dir "$CARGO_TARGET_DIR/fuzz" "${bins[@]}" || die "the fuzz targets could not be built"
programs=$CARGO_TARGET_DIR/fuzz/$triple/release
state=$CACHE/fuzz
mkdir -p "$state/artifacts"

# stat NAME LOG...: the sum of libFuzzer's figure over the processes
stat() { sed -n "s/^stat::$1: *//p" "${@:2}" | awk '{ sum += $1 } END { printf "%d", sum }'; }
# run TARGET NUMBER: one process; its output is in TARGET.NUMBER.log
run() {
	local dictionary=fuzz/dictionaries/$1.dict
	"$programs/$1" -max_total_time="$seconds" -runs="$((executions > 0 ? executions / jobs : -1))" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-reload=1 -artifact_prefix="$state/artifacts/$1-" -dict="$dictionary" "$state/$1" "fuzz/corpus/$1" >"$state/$1.$2.log" 2>&1
}

failed=0 all=0
row='%-12s %14s %9s %9s %7s %8s %7s %8s\n'
# shellcheck disable=SC2059  # the format is ours
printf "$row" target executions "per s" seconds covered features corpus result
for target in "${targets[@]}"; do
	mkdir -p "$state/$target"
	# In addition to the kept inputs: small engines that the tests make.
	if [ "$target" = engine ] && [ -z "$(ls -A "$state/engine")" ]; then
		PROFINFER_SEEDS=$state/engine tests_of engine --ignored damage::write_seeds >&2
	fi
	if [ -n "$long" ]; then
		executions=$(awk -v target="$target" '$1 == target { print $2 }' ci/fuzz/long.txt)
		[ -n "$executions" ] || die "ci/fuzz/long.txt does not say how often to run '$target'"
	fi
	start=$SECONDS result=ok pids=() logs=()
	for ((n = 0; n < jobs; n++)); do
		run "$target" "$n" &
		pids+=($!) logs+=("$state/$target.$n.log")
	done
	for pid in "${pids[@]}"; do wait "$pid" || result=FAILED; done
	took=$((SECONDS - start))
	runs=$(stat number_of_executed_units "${logs[@]}")
	all=$((all + runs))
	read -r cov ft < <(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\).*/\1 \2/p' "${logs[@]}" | sort -n | tail -n 1) || true
	# shellcheck disable=SC2059
	printf "$row" "$target" "$runs" "$((runs / (took > 0 ? took : 1)))" "$took" "${cov:-?}" "${ft:-?}" "$(find "$state/$target" -type f | wc -l)" "$result"
	if [ "$result" != ok ]; then
		failed=$((failed + 1))
		grep -hE '^(thread|.*panicked|SUMMARY|artifact_prefix|Test unit)' "${logs[@]}" >&2 || tail -n 20 "${logs[0]}" >&2
	elif [ -n "$merge" ]; then
		"$programs/$target" -merge=1 -max_len=4096 "fuzz/corpus/$target" "$state/$target" >"$state/$target.merge.log" 2>&1 ||
			die "$target: the inputs could not be merged" "$(tail -n 3 "$state/$target.merge.log")"
	fi
done
echo "targets: $((${#targets[@]} - failed)) passed, $failed failed; $all executions"
[ "$failed" = 0 ]
