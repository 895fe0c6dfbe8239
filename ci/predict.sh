#!/usr/bin/env bash
# predict.sh [options]      error of `analyze predict`, over models and types that are generated here
#
#   --out DIR        folder for recordings, predictions and the table (default: a folder of the cache); existing ones are reused
#   --threads N      threads of the engine (default: 2)
#   --rounds N       runs of the engine without the agent, before and after each recording (default: 1)
#   --agent FILE     the agent (default: built here)
#   --analyze FILE   the analyzer (default: built here)
#   --models 'LIST'  NAME:TYPE of scripts/gen_models.py, or NAME of scripts/model.sh (default: see below)
#
# llama-bench runs each model without the agent, then it is recorded (the operators of half of its
# tokens), then it runs again. The engine's figures of the runs without the agent are the measured
# speed. Then each model is predicted from the recordings of the others, once from all of them (a
# seen type), once from those without its type (an unseen type). The table also has the predictions
# of one bandwidth for all, llmfit and gguf-parser-go. Compares times, so it needs an idle machine,
# and is not part of the test command. Run by hand; needs root and BPF.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/scripts/record_run.sh"
# shellcheck disable=SC2034  # of record_run.sh
agent='' analyze='' on='' pause=0
out=$CACHE/predict threads=2 rounds=1
models='mid-llama:Q8_0 mid-llama:Q4_0 mid-llama:F16 mid-llama:Q5_0 mid-llama:Q4_1 mid-llama:Q5_K mid-llama:IQ4_NL
	mid-wide:Q8_0 mid-wide:Q4_0 mid-wide:Q4_K mid-wide:Q5_K mid-wide:Q6_K
	mid-qwen2:Q8_0 mid-qwen2:Q4_K mid-qwen2:Q6_K mid-gemma2:Q8_0 mid-moe:Q4_K mid-moe:Q8_0 smollm2 spec-target'
while [ $# -gt 0 ]; do
	case $1 in
	--out | --threads | --rounds | --agent | --analyze | --models)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "See $0 --help" ;;
	esac
	shift
done
if why=$(have_bpf); then :; else skip "predictions" "$why"; exit 0; fi
engine=$("$REPO/scripts/engine.sh")
ensure_venv tools
need_agent
need_analyze
mkdir -p "$out/models" "$out/runs"

# file_of MODEL: its file, generated where it is not there
file_of() {
	local name=${1%:*} type=${1#*:} file
	if [ "$name" = "$1" ]; then "$REPO/scripts/model.sh" "$1"; return; fi
	file=$out/models/$name-$type.gguf
	if [ ! -f "$file" ]; then
		"$VENV/bin/python" "$REPO/scripts/gen_models.py" --weights "$type" "$out/models" "$name" >&2
		mv "$out/models/$name.gguf" "$file"
	fi
	echo "$file"
}

# bench_of FILE TIMES: the command that runs it
bench_of() { echo "'$engine/llama-bench' -m '$1' -t $threads -p 64 -n 96 -r $2 -o json"; }

# alone NAME NUMBER FILE: a run without the agent
alone() { sh -c "exec $(bench_of "$3" 4)" >"$out/runs/$1.$2.json" 2>"$out/runs/$1.$2.log" </dev/null || die "this run failed: $3" "See $out/runs/$1.$2.log"; }

# recorded NAME FILE: a run with the agent, long enough for a dozen bursts of the duty cycle, so that the cost of probes is measured. Two of them have the board's ceilings too, for rules that need them.
bench=2
recorded() {
	local more=
	[ "$bench" = 0 ] || { bench=$((bench - 1)); more=--bench; }
	# shellcheck disable=SC2086  # an option or none
	"$agent" record $more --duty 50% --out "$out/runs/$1.part" -- sh -c "exec $(bench_of "$2" 12)" >"$out/runs/$1.log" 2>&1 </dev/null ||
		die "this run failed: $2" "See $out/runs/$1.log"
}

declare -A files
for model in $models; do files[$model]=$(file_of "$model"); done
for model in $models; do
	name=${model/:/-} file=${files[$model]}
	[ ! -f "$out/runs/$name.pfi" ] || continue
	say "running $name"
	for i in $(seq "$rounds"); do alone "$name" "$i" "$file"; done
	recorded "$name" "$file"
	for i in $(seq $((rounds + 1)) $((2 * rounds))); do alone "$name" "$i" "$file"; done
	mv "$out/runs/$name.part" "$out/runs/$name.pfi"
done

# types_of MODEL: the types of its large matrices, the main one first; of models that are not generated here as they were made
types_of() {
	case $1 in
	*:*) echo "${1#*:}" ;;
	smollm2) echo "Q4_1 Q8_0" ;;
	*) echo Q8_0 ;;
	esac
}

# predict MODEL HOW RECORDING...: a prediction
predict() {
	local model=$1 how=$2 name=${1/:/-}
	shift 2
	mkdir -p "$out/predictions"
	"$analyze" predict "${files[$model]}" --from "$@" --out "$out/predictions/$name.$how" >/dev/null ||
		note "$name is not predicted ($how): see $out/predictions/$name.$how/predict.json"
}
rm -rf "$out/predictions"
say "predicting each model from the others"
for model in $models; do
	others=() without=()
	same=
	for other in $models; do
		[ "$other" != "$model" ] || continue
		others+=("$out/runs/${other/:/-}.pfi")
		main=$(types_of "$model") all=$(types_of "$other")
		case " $all " in
		*" ${main%% *} "*) same=1 ;;
		*) without+=("$out/runs/${other/:/-}.pfi") ;;
		esac
	done
	[ -z "$same" ] || predict "$model" seen "${others[@]}"
	predict "$model" unseen "${without[@]}"
done
"$VENV/bin/python" "$REPO/ci/predict/table.py" "$out" | tee "$out/table.txt"
say "predicting undisturbed calls of each recording from its others"
(cd "$REPO" && PROFINFER_RECORDINGS=$out/runs cargo test -q --locked -p profinfer-analysis --test results left_out -- --ignored --nocapture)
