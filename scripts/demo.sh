#!/usr/bin/env bash
# demo.sh [options]      set up, trace a real llama.cpp, and write the report, in one command
#
#   --engine DIR     folder with the programs of llama.cpp (default: fetches a current one, see scripts/engine.sh)
#   --model FILE     any GGUF file, or a name that scripts/model.sh knows (default: smollm2)
#   --threads N      threads of the engine (default: 2)
#   --tokens N       tokens to generate (default: 48)
#   --prompt TEXT    the prompt
#   --out DIR        folder for the report (default: profile)
#   --replay         do not trace; show the recording of the repository
#
# Needs root and a kernel with BPF and uprobes. If it cannot trace, it prints the reason and shows the recording of the repository.
set -eu
. "$(dirname "$0")/lib.sh"
engine='' model=smollm2 threads=2 tokens=48 out=profile replay='' prompt='The three things that make a language model slow on a small board are'
while [ $# -gt 0 ]; do
	case $1 in
	--engine | --model | --threads | --tokens | --prompt | --out)
		[ $# -ge 2 ] || die "$1 needs a value" "See $0 --help"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	--replay) replay=1 ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "See $0 --help" ;;
	esac
	shift
done
invoked=$PWD
cd "$REPO"
out=$(cd "$invoked" && realpath -m "$out")
kept=$REPO/host-analyzer/tests/data/sample.pfi

why=''
if [ -z "$replay" ] && ! why=$(have_bpf); then
	replay=1
fi
scripts/setup.sh
if [ -z "$replay" ]; then
	# Errors about the engine or the model come before minutes of compiling.
	[ -n "$engine" ] || engine=$(scripts/engine.sh)
	case $model in
	*.gguf) model=$(cd "$invoked" && realpath "$model") ;;
	*) model=$(scripts/model.sh "$model") ;;
	esac
	[ -f "$model" ] || die "there is no model at $model" "Give a GGUF file, or a name of 'scripts/model.sh --list'"
fi
say "building analyze (the first time takes a minute or two)"
cargo build -q --locked --profile host -p analyze --bin analyze
analyze=$CARGO_TARGET_DIR/host/analyze
if [ -n "$replay" ]; then
	if [ -n "$why" ]; then
		note "this machine cannot trace: $why"
		note "showing a recording that the same agent made of a real llama.cpp; its source: $(dirname "${kept#"$REPO"/}")/PROVENANCE.toml"
	fi
	exec "$analyze" "$kept" --out "$out"
fi

say "building the agent"
cargo build -q --locked --release -p profinfer-agent
agent=$CARGO_TARGET_DIR/release/profinfer-agent

if [ -x "$engine/llama-completion" ]; then
	run=("$engine/llama-completion" -m "$model" -t "$threads" -n "$tokens" -p "$prompt" --temp 0 -no-cnv --ignore-eos)
elif [ -x "$engine/nodes" ]; then
	run=("$engine/nodes" -m "$model" -t "$threads" -n "$tokens" --prompt "$prompt")
elif [ -x "$engine/llama-cli" ]; then
	run=("$engine/llama-cli" -m "$model" -t "$threads" -n "$tokens" -p "$prompt" --temp 0 -no-cnv --ignore-eos)
else
	die "no llama-completion, llama-cli or nodes in $engine" "Name the folder of a llama.cpp's programs with --engine"
fi

say "tracing: $(basename "${run[0]}"), $(basename "$model"), $threads threads, $tokens tokens"
mkdir -p "$out"
log=$out/engine.log
port=$out/port
rm -f "$port"
"$agent" serve --once --listen tcp:127.0.0.1:0 --port-file "$port" -- "${run[@]}" >"$log" 2>&1 </dev/null &
agent_pid=$!
trap 'kill $agent_pid 2>/dev/null || true' EXIT
for _ in $(seq 100); do
	[ ! -f "$port" ] || break
	kill -0 $agent_pid 2>/dev/null || break
	sleep 0.1
done
[ -f "$port" ] || die "the agent did not start" "$(tail -n 3 "$log")"
"$analyze" --bench --board host "tcp:127.0.0.1:$(cat "$port")" --out "$out"
wait $agent_pid || die "the engine or the agent failed" "$(tail -n 5 "$log")" "All of its output: $log"
trap - EXIT
say "done: open $out/report.html; the engine's output is in $log"
