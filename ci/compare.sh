#!/usr/bin/env bash
# compare.sh [--pairs N] [--power N] [--rounds N]      comparisons keep their word on a real engine
#
# Makes N times (default: 20) four and four runs of the same command, in turn: at most 5 % may be
# reported as different, within the accuracy of N. Then planted slowdowns, each with four and four
# runs: larger weights, a CPU variant for old processors, a slow sampler. Each must be found, with
# its operators or its step as the first row. Another model must be refused. Prints a table. Other
# load on the machine widens the intervals, and planted slowdowns can remain undecided.
#
# --power N: also plants slowdowns of 1, 2 and 5 %, each in N series of --rounds runs per side
# (default: 6): time between two calls, an operator of another backend, and a task that uses the
# first CPU. The share that is detected must match the statistical power that the comparisons state,
# and the step of the slowdown must be the first row. About ten minutes for N = 4. Run by hand.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/variant_folder.sh"
pairs=20 power=0 rounds=6
while [ $# -gt 0 ]; do
	case $1 in
	--pairs | --power | --rounds) printf -v "${1#--}" %s "$2" && shift ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "See $0 --help" ;;
	esac
	shift
done
cd "$REPO"
! cannot_trace "comparisons" || exit 0
engine=$(scripts/engine.sh)
models=$CACHE/models
scripts/model.sh smollm2 dense-q8 dense-q4 dense-f32 >/dev/null
agent=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent} analyze=${PROFINFER_ANALYZE:-$CARGO_TARGET_DIR/debug/analyze}
if ! [ -x "$agent" ] || ! [ -x "$analyze" ]; then tests_build; fi
case $(uname -m) in
x86_64) generic=sse42 ;;
*) generic=armv8.0_1 ;;
esac
old=$(variant_folder "$generic" "${engine%/bin}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# series NAME ROUNDS A B OPTION…: code, shift, ends and leading rows of a comparison, on one line
series() {
	local name=$1 status=0
	scripts/compare.sh --rounds "$2" --out "$out" --agent "$agent" --analyze "$analyze" "$3" "$4" -- "${@:5}" >/dev/null 2>"$out/said" || status=$?
	[ -f "$out/comparison/compare.json" ] || die "the comparison failed" "$(tail -n 3 "$out/said")"
	python3 - "$out/comparison/compare.json" "$name" "$status" <<-'EOF'
		import json, sys
		d = json.load(open(sys.argv[1]))
		v = d["verdict"]
		percent = lambda s: "-" if s is None else f"{s * 100:+.1f} %"
		first = lambda level: next((r["step"] for r in d["rows"] if r["level"] == level), "-")
		operator = next((r["op"] for r in d["rows"] if r["level"] == "operator" and r["op"]), "-")
		print("\t".join([sys.argv[2], v["code"], percent(v["shift_share"]), percent(v["low_share"]), percent(v["high_share"]), first("step"), operator]))
	EOF
	[ -z "${KEEP:-}" ] || cp "$out/comparison/compare.json" "$KEEP"
	rm -rf "$out/comparison"
}
# One thread, so that what else runs has another CPU, and before it: tokens of these models take less than a slice of a CPU.
nodes() { echo "nice -n -19 $1/nodes -m $models/$2.gguf -t 1 -p 8 -n 450"; }
say "the same, $pairs times"
printf 'name\tcode\tshift\tlow\thigh\tstep\toperator\n'
: >"$out/same"
for i in $(seq "$pairs"); do series "same-$i" 4 "$(nodes "$engine" dense-q8)" "$(nodes "$engine" dense-q8)" | tee -a "$out/same"; done
python3 - "$out/same" <<-'EOF'
	import math, sys
	codes = [line.split("\t")[1] for line in open(sys.argv[1])]
	n, different = len(codes), sum(c in ("faster", "slower") for c in codes)
	chance = sum(math.comb(n, k) * 0.05**k * 0.95 ** (n - k) for k in range(different, n + 1))
	print(f"{different} of {n} pairs of the same were called different; with 5 % as many or more have a probability of {chance:.2f}")
	sys.exit(chance < 0.01)
EOF

say "planted"
failed=0
# planted NAME CODE STEP|OPERATOR A B OPTION…: what leads must be among the names
planted() {
	local line
	line=$(series "$1" 4 "$4" "$5" "${@:6}")
	echo "$line"
	awk -F'\t' -v code="$2" -v names=" $3 " '{ exit !($2 == code && (code == "different_work" || index(names, " " $6 " ") || index(names, " " $7 " "))) }' <<<"$line" ||
		{ note "expected $2, led by $3"; failed=1; }
}
planted other-model different_work - "$(nodes "$engine" dense-q8)" "$(nodes "$engine" dense-q4)"
planted larger-weights slower MUL_MAT "$(nodes "$engine" dense-q4)" "$(nodes "$engine" dense-f32)" --different-work
planted old-variant slower "MUL_MAT FLASH_ATTN_EXT" "$(nodes "$engine" dense-q8)" "$(nodes "$old" dense-q8)"
talk="nice -n -19 $engine/llama-completion -m $models/smollm2.gguf -t 1 -n 60 -p Once -no-cnv --ignore-eos"
planted slow-sampler slower application "$talk --temp 0" "$talk --temp 0.8 --seed 1 --top-k 0 --top-p 0.99 --min-p 0"

# slowdowns NAME STEP A B: plant slowdowns in B, where {percent} and {us} (per token of A) are replaced by the slowdown
slowdowns() {
	local token_ns percent i us b
	KEEP=$out/same.json series "$1" 4 "$3" "$3" >/dev/null
	token_ns=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["sides"][0]["mean_ns"])' "$out/same.json")
	for percent in 1 2 5; do
		us=$((token_ns * percent / 100000))
		b=${4//'{percent}'/$percent}
		rm -f "$out"/power-*.json
		for i in $(seq "$power"); do KEEP=$out/power-$i.json series "$1" "$rounds" "$3" "${b//'{us}'/$us}" >/dev/null; done
		python3 ci/compare/told.py "$percent" "$out"/power-*.json >"$out/told" || failed=1
		printf '%s\t%s\n' "$1" "$(cat "$out/told")"
		case $(cut -f 5 "$out/told") in "$2"* | -) ;; *) note "expected $2 to lead"; failed=1 ;; esac
	done
}
if [ "$power" -gt 0 ]; then
	say "planted slowdowns, each $power series of $rounds runs a side"
	printf 'what\tplanted\ttold\tstated\tshift\tled by\n'
	standin=$(ci/engines/standin.sh)
	slowdowns application application "$(nodes "$engine" dense-q8)" "env LD_PRELOAD=$standin/libdelay.so DELAY_US={us} $(nodes "$engine" dense-q8)"
	backend="GGML_BACKEND_PATH=$standin/libggml-opencl.so STANDIN_SLEEP"
	slow="$(nodes "$engine" dense-f32)"
	slowdowns backend other_backend "env $backend=none $slow" "env $backend=Kcur-1 STANDIN_SLEEP_US={us} $slow"
	beside="taskset 1 python3 ci/compare/beside.py"
	slowdowns neighbour program "$beside 0 $(nodes "$engine" dense-q8)" "$beside {percent} $(nodes "$engine" dense-q8)"
fi
exit $failed
