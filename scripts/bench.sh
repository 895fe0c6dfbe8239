#!/usr/bin/env bash
# bench.sh [WHAT] [OPTION...]      overhead of tracing, and speed of the analysis
#
#   overhead [MODEL] [--engine E] [--pairs N] [--ways LIST] …   slowdown of a decoding engine, in alternating windows with
#                     and without a tracer: the agent by levels, starts only, duty cycle, direct probes; the paper's method; bpftrace.
#                     MODEL: smollm2 (default) or big-1b-q4km, …; the other options: ci/bench/overhead.py --help
#   hits [MODEL] [--engine E] …   overhead from hit counts, if windows are too noisy: hits per token, time of the BPF programs, agent CPU
#   agents OLD [MODEL] [--engine E] …   the agent OLD and the current one, interleaved on one engine: slowdown, time of the BPF
#                     programs, cost of a pair of probes, and ratios; other options: ci/bench/agents.py --help
#   parts             cost of a pair of probes, by part, on one thread and on all CPUs
#   rate [ENGINE]     operators per second on all CPUs, and how many of them were lost
#   analyser [SPANS]  speed and memory of the analysis for SPANS spans (ten million), on one core; each analysis and view alone; the same
#                     tables from pandas and networkx, and whether they are equal
#   bounded [SPANS [MB...]]  a recording whose tables exceed memory: time and memory under memory limits; ci/bench/bounded.sh
#   fleet [N...]      adding N captures (100 300 1000) to a fleet, and queries with DataFusion and Spark; ci/fleet/bench.sh
#   all               everything (default); the overhead with both models and two engines; about 90 minutes
#
# Prints figures and tests nothing; docs/performance.md has the results. Needs root, BPF and an idle machine.
set -eu
. "$(dirname "$0")/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
what=${1:-all}
[ $# = 0 ] || shift
[ "$what" != bounded ] || exec ci/bench/bounded.sh "$@" # traces nothing
why=$(have_bpf) || die "this machine cannot trace: $why"
built=$CACHE/bench
agent=$CARGO_TARGET_DIR/release/profinfer-agent

build_agent() {
	scripts/setup.sh
	say "building the agent"
	cargo build -q --locked --release -p profinfer-agent
}

# Build the comparison tracer and the probe of parts, with the system's libbpf.
build_tracers() {
	need_pkgs clang gcc libc6-dev libbpf-dev binutils
	mkdir -p "$built"
	local arch
	arch=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
	clang -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_"$arch" -Ibpf/include -c ci/bench/tracer.bpf.c -o "$built/tracer.o"
	for program in tracer traps; do gcc -O2 -o "$built/$program" "ci/bench/$program.c" -lbpf -lpthread; done
}

# on PROGRAM [MODEL] [--engine E] OPTION…: a program of ci/bench on an engine that decodes.
on() {
	local program=$1 model=smollm2 engine=debian
	shift
	case ${1:-} in '' | --*) ;; *) model=$1 && shift ;; esac
	if [ "${1:-}" = --engine ]; then engine=$2 && shift 2; fi
	say "$program: $engine, $model"
	case $program in agents) ;; *) set -- --agent "$agent" "$@" ;; esac
	python3 "ci/bench/$program.py" --engine "$(scripts/engine.sh "$engine")" --model "$(scripts/model.sh "$model")" "$@"
}

agents() {
	local old=$1
	shift
	cargo build -q --locked --release -p analyze --bin analyze
	on agents "$@" --a "$old" --b "$agent" --analyze "$CARGO_TARGET_DIR/release/analyze"
}
overhead() { on overhead "$@" --tracer "$built/tracer" --json "$built/figures.jsonl"; }

parts() {
	for threads in 1 "$(nproc)"; do
		say "parts of a pair of probes, ns (lower quartile, median), threads: $threads"
		"$built/traps" "$built/tracer.o" 40 "$threads"
	done
}

rate() {
	local engine=${1:-npm:b4600} out
	out=$(mktemp -d)
	say "rate: $engine, narrow-f32, $(nproc) threads"
	# The engine prints the start and end of every call. A shell separates this output from the agent's summary.
	# shellcheck disable=SC2016  # that shell's
	CALLS=$out/calls "$agent" record --full --format json --out "$out/r.pfi" --levels token,graph,op -- sh -c 'exec "$0" "$@" >"$CALLS"' \
		"$(scripts/engine.sh "$engine")/nodes" -m "$(scripts/model.sh narrow-f32)" -t "$(nproc)" -p 8 -n 100 -r 40 --fresh \
		>"$out/summary.json" 2>"$out/said"
	python3 - "$out/calls" "$out/summary.json" <<-'EOF'
		import json, sys
		sys.path.insert(0, "ci")
		from agent_json import recorded
		calls = [line.split("\t") for line in open(sys.argv[1]) if line.startswith("decode")]
		summary = json.load(open(sys.argv[2]))
		ns = sum(int(call[5]) - int(call[4]) for call in calls)
		print(f"{summary['spans_sent'] / ns * 1e9:.0f} operators a second while it computes; {recorded(summary)}")
	EOF
	rm -r "$out"
}

analyser() {
	local spans=${1:-10000000} examples=$CARGO_TARGET_DIR/host/examples small out
	small=200000
	cargo build -q --locked --profile host -p analyze --bin analyze --example bench_ingest --example bench_views --example bench_all
	say "analyser: $spans spans, one core, from bytes to everything"
	taskset -c 0 "$examples/bench_all" "$spans"
	say "analyser: a million spans, one core; bytes to tables, then every analysis and view"
	taskset -c 0 "$examples/bench_ingest"
	taskset -c 0 "$examples/bench_views"
	ensure_venv bench
	out=$(mktemp -d)
	say "analyser: $small spans, one core, whole programs; and the same tables by pandas"
	taskset -c 0 "$examples/bench_all" "$small" "$out/made.pfi" >/dev/null
	taskset -c 0 "$CARGO_TARGET_DIR/host/analyze" "$out/made.pfi" --timeline-json --csv --out "$out/profile" >/dev/null
	taskset -c 0 "$VENV/bin/python" ci/bench/pandas_analyzer.py "$out/profile"
	rm -r "$out"
}

case $what in
overhead) need_pkgs bpftrace && build_agent && build_tracers && overhead "$@" ;;
agents) [ -x "${1:-}" ] || die "agents needs the file of another agent"; build_agent && agents "$@" ;;
hits) build_agent && on hits "$@" ;;
parts) build_tracers && parts ;;
rate) build_agent && rate "$@" ;;
fleet) exec ci/fleet/bench.sh "$@" ;;
analyser) scripts/setup.sh && analyser "$@" ;;
all)
	need_pkgs bpftrace && build_agent && build_tracers
	parts
	on hits
	on hits big-1b-q4km
	rate npm:b4600
	overhead smollm2 --pairs 24
	overhead smollm2 --engine npm:b4600 --pairs 12 --ways op,token+graph,paper
	overhead big-1b-q4km --pairs 16 --window 4 --round 24
	analyser
	;;
*) die "there is nothing called '$what' to measure" "See scripts/bench.sh --help." ;;
esac
