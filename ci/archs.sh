#!/usr/bin/env bash
# archs.sh [--out DIR] [NAME...]      bytes and operations of many architectures, against their files
#
# Generates small models with random weights (scripts/gen_archs.py), runs each with llama.cpp under
# the agent, and compares what ProfInfer counts per decode token (per call, for encoders) with a
# count from the GGUF file and the rules of llama.cpp's graphs (ci/archs): bytes of weights, bytes
# of the KV cache or of the states of one sequence, operations of the products with weights. No
# operator may be without a formula, and the module `embedding` only has the look-ups. Two models
# also run in a server with four slots and one client. The census of `analyze predict` is compared with
# the file as well. For an adapter that comes and goes, the allocations of graphs are
# those of the server's log (host-analyzer/analyze/tests/oracle/adapters.rs).
#
# --out DIR: keep the recordings there. NAME: only these models. Needs root and BPF, and 5 minutes.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
TOKENS=16 PROMPT='the first of them was in there'
# Weights stay as in the file: with AMX, the engine's own layout has more bytes.
OPTIONS=(-t 2 --no-repack)
# Models of scripts/model.sh: Mamba 1, and short convolutions without experts
OTHERS=(mamba-q8 lfm2-q8)
out='' names=()
while [ $# -gt 0 ]; do
	case $1 in
	--out)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		out=$2
		shift
		;;
	-h | --help) usage_from_head "$0"; exit ;;
	-*) die "unknown argument '$1'" "See $0 --help" ;;
	*) names+=("$1") ;;
	esac
	shift
done
cd "$REPO"
! cannot_trace "architectures" || exit 0
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

# finish NAME: analyze a recording
finish() {
	"$analyze" "$out/$1.pfi" --out "$out/$1" >"$out/$1.analyze.log" 2>&1 ||
		die "the recording of $1 could not be analyzed" "$(tail -n 3 "$out/$1.analyze.log")"
}

# record NAME COMMAND...: one run
record() {
	local name=$1
	shift
	note "$name"
	"$agent" record --full --levels all --out "$out/$name.pfi" -- "$@" >"$out/$name.log" 2>&1 </dev/null ||
		die "this run failed: $*" "$(tail -n 3 "$out/$name.log")"
	finish "$name"
}

# run NAME: a model with its program
run() {
	local model=$ARCHS/$1.gguf adapter=()
	case $1 in
	bert)
		record "$1" "$engine/llama-embedding" -m "$model" "${OPTIONS[@]}" --verbose-prompt -p "$PROMPT"
		return
		;;
	lora) adapter=(--lora "$ARCHS/lora.lora.gguf") ;;
	esac
	record "$1" "$engine/llama-completion" -m "$model" "${adapter[@]}" "${OPTIONS[@]}" -no-cnv -n "$TOKENS" --seed 1 \
		--ignore-eos --verbose-prompt -p "$PROMPT"
	# It refuses an encoder with a decoder.
	[ "$1" = t5 ] || "$analyze" predict "$model" --from "$out/$1.pfi" --out "$out/$1" >/dev/null ||
		die "the speed of $1 could not be predicted from itself"
}

# serve NAME: the same prompt for one of four slots of a server
serve() {
	local name=$1-np4
	note "$name"
	"$VENV/bin/python" ci/archs/serve.py "$TOKENS" "$PROMPT" "$agent" record --full --levels all \
		--out "$out/$name.pfi" -- "$engine/llama-server" -m "$ARCHS/$1.gguf" "${OPTIONS[@]}" -np 4 --port PORT \
		>"$out/$name.log" 2>"$out/$name.engine.log" </dev/null ||
		die "the server with $1 failed" "$(tail -n 3 "$out/$name.engine.log")"
	finish "$name"
}

if [ ${#names[@]} = 0 ]; then
	mapfile -t names < <("$VENV/bin/python" scripts/gen_archs.py --list | cut -d' ' -f1)
	names+=("${OTHERS[@]}")
fi
say "architectures: ${names[*]}"
hash=$(archs_hash)
for name in "${names[@]}"; do
	case " ${OTHERS[*]} " in
	*" $name "*) ln -sf "$(scripts/model.sh "$name")" "$ARCHS/$name.gguf" ;;
	*) generated "$ARCHS" "$hash" "$name" scripts/gen_archs.py ;;
	esac
	run "$name"
	case $name in mamba2 | qwen35) serve "$name" ;; esac
done
"$VENV/bin/python" ci/archs/count.py "$ARCHS" "$out" "$TOKENS"
case " ${names[*]} " in
*" lora "*)
	export PROFINFER_ARCHS_DIR=$ARCHS PROFINFER_AGENT=$agent PROFINFER_ENGINE_DIR=$engine
	: "${PROFINFER_MODELS_DIR:=$(dirname "$(scripts/model.sh smollm2)")}"
	export PROFINFER_MODELS_DIR
	tests_of oracle --ignored --nocapture adapters::
	;;
esac
