#!/usr/bin/env bash
# test.sh [--all | --only PATTERN]      set up, check and test
#
#   (no option)      the checks of every change: format, lints, all tests of the workspace, the static agent
#   --all            also the checks of a release: documentation, site, fleets, all supported engines, kernels and transports, recordings of
#                    earlier versions, soak, fuzzing, other compilers, preemptible kernels, the container build, the supply chain
#   --only PATTERN   only the tests whose names contain PATTERN, and what they need
#
# Every step runs even if an earlier one failed. The summary lists failures, times, and each skipped test with the
# reason. Another process fetches what the steps need into the cache, in parallel.
#
# Tests with a real trace need root and a kernel with BPF and uprobes. With PROFINFER_REQUIRE=1 a skipped test counts as a
# failure. That is the default in CI (CI=true) if BPF works.
#
# Environment variables tell the tests where everything is. A variable that is already set is kept:
#   PROFINFER_ENGINE_DIR      launchers of a current llama.cpp (scripts/engine.sh)
#   PROFINFER_MID_ENGINE_DIR  those of b4600 (2025-01)
#   PROFINFER_OLD_ENGINE_DIR  those of b3889 (2024-10)
#   PROFINFER_SERVER_DIR      launcher of a server whose batches name their sequences (scripts/engine.sh server:xllamacpp)
#   PROFINFER_MODELS_DIR      folder of NAME.gguf (scripts/model.sh)
#   PROFINFER_VENV            Python with the readers of requirements-tests.txt
#   PROFINFER_CHROMIUM        a Chromium, if there is one
#   PROFINFER_AGENT           the agent
#   PROFINFER_NO_BPF          why this machine cannot trace
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
all='' pattern=''
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--all) all=1 ;;
--only)
	pattern=${2:-}
	[ -n "$pattern" ] || die "--only needs a part of a test's name" "scripts/test.sh --only nodes::"
	;;
'') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
cd "$REPO"

# State of this run: boards that several steps use, the list of skipped tests, the process that fetches.
begin
export PROFINFER_SKIPS=$dir/skips PROFINFER_BOARDS=test-$$
# Tests neither use nor change the ceilings that the user's own analyze keeps.
export PROFINFER_CEILINGS=
: >"$PROFINFER_SKIPS"
fetching=
before_end() {
	[ -z "$fetching" ] || kill -- "-$fetching" 2>/dev/null || true
	boards_down "$PROFINFER_BOARDS"
}
if why=$(have_bpf); then
	if [ "${CI:-}" = true ]; then export PROFINFER_REQUIRE="${PROFINFER_REQUIRE:-1}"; fi
else
	export PROFINFER_NO_BPF=$why
fi

LONGEST=2400
: >"$dir/summary"
# Set `cpu` to the CPU time of the steps so far, in seconds: that of the children of this process.
read_cpu() {
	local file=$dir/times.$BASHPID
	times >"$file"
	cpu=$(awk 'NR == 2 { gsub("s", ""); for (i = 1; i <= 2; i++) { split($i, t, "m"); s += t[1] * 60 + t[2] } printf "%d", s }' "$file")
}
# step NAME COMMAND...
step() {
	local name=$1 start=$SECONDS result=ok cpu before
	shift
	read_cpu
	before=$cpu
	say "$name"
	# A script that hangs is ended here and reported, so that it does not use up the time of a CI run.
	case $1 in */*) set -- timeout -k 60 "$LONGEST" "$@" ;; esac
	"$@" || { [ $? != 124 ] || note "$name: ended after $LONGEST s without a result"; result=FAILED; }
	read_cpu
	printf '%-22s %6s  %4d s  %5d s\n' "$name" "$result" $((SECONDS - start)) $((cpu - before)) >>"$dir/summary"
}
# With --all: what compiles, in parallel with what runs engines and boards, which leaves much of the processors idle.
compiling() {
	# A board of the other lane is not shared with this one.
	unset PROFINFER_BOARDS
	step "cross build" ci/cross/run.sh
	step "documentation" docs
	step "site" ci/site.sh
	step "features of the agent" agent_features
	step "wire on bare metal" ci/no-std.sh
	step "fleets" ci/fleet/test.sh
	step "other clangs" ci/clangs.sh
	step "fuzzing" ci/fuzz.sh --seconds 10
	step "supply chain" ci/supply.sh
	step "packages" packages
	step "other hosts" ci/hosts.sh
}
tracing() {
	step "compatibility" ci/compat.sh
	step "soak" ci/soak.sh --minutes 2
	step "engines" ci/engines/matrix.sh
	step "backends" ci/engines/backends.sh
	step "other GGML programs" ci/engines/others.sh
	step "architectures" ci/archs.sh
	step "scenarios" ci/scenarios.sh
	step "kernels (board)" ci/board/matrix.sh
	step "engines (board)" ci/board/engines.sh
	step "push, serial, memory" boards_side_by_side
	step "preemption (x86-64)" ci/board/preempt.sh --minutes 1
	step "preemption (arm64)" ci/board/preempt.sh --arch arm64 --minutes 1
}
in_parallel() {
	local name pids=()
	for name; do
		"$name" > >(sed -u "s/^/[$name] /") 2>&1 &
		pids+=($!)
	done
	# A lane that ends early has not run its other steps, which no line of the summary would show.
	for name; do
		wait "${pids[0]}" || printf '%-22s %6s  before its last step\n' "$name" FAILED >>"$dir/summary"
		pids=("${pids[@]:1}")
	done
}

shell_scripts() {
	local files
	mapfile -t files < <(git ls-files -co --exclude-standard '*.sh' .ci/run)
	printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 16 shellcheck &&
		python3 -B ci/no-prose.py && ci/causes.sh --test && ci/scenarios.sh --test && ci/site.sh --links
}
# The agent without features, and with one of them, must compile without warnings.
agent_features() {
	local features
	for features in "" bench direct; do cargo clippy -q --locked -p profinfer-agent --no-default-features --features "$features" -- -D warnings || return 1; done
}
# Signed by a key of this run alone
packages() {
	ssh-keygen -q -t ed25519 -N '' -f "$dir/key" && scripts/release.sh --draft --sign "$dir/key" --out "$dir/release" &&
		ci/release/signed.sh "$dir/release" "$dir/key.pub" && ci/package.sh "$dir/release" && ci/wheel.sh "$dir/release"
}
docs() { RUSTDOCFLAGS="-D warnings" cargo doc -q --locked --workspace --no-deps; }
# engine VARIABLE [ENGINE]: set VARIABLE to the folder of the launchers, unless it is set
engine() {
	local dir
	if [ -z "${!1:-}" ]; then
		dir=$(scripts/engine.sh "${@:2}") || return 1
		printf -v "$1" %s "$dir"
	fi
	export "${1?}"
}
engines_and_models() {
	engine PROFINFER_ENGINE_DIR && engine PROFINFER_MID_ENGINE_DIR npm:b4600 &&
		engine PROFINFER_OLD_ENGINE_DIR npm:b3889 && engine PROFINFER_SERVER_DIR server:xllamacpp || return 1
	if [ -z "${PROFINFER_MODELS_DIR:-}" ]; then
		scripts/model.sh "${TEST_MODELS[@]}" >/dev/null || return 1
		PROFINFER_MODELS_DIR=$CACHE/models
	fi
	: "${PROFINFER_VENV:=$VENV}"
	: "${PROFINFER_CHROMIUM:=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"
	export PROFINFER_MODELS_DIR PROFINFER_VENV PROFINFER_CHROMIUM
}
static_agent() {
	local out size
	out=$(scripts/build-agent.sh) || return 1
	size=$(stat -c %s "$out")
	echo "static aarch64 agent: $size bytes"
	if ! file "$out" | grep -q "statically linked" || [ "$size" -gt 2500000 ]; then
		echo "not one static file of at most 2.5 MB" >&2
		return 1
	fi
}
# Boards that wait more than they compute, so push to some while the others measure.
boards_side_by_side() {
	local pid result=0
	(ci/push/test.sh && ci/push/pages.sh) >"$dir/push.log" 2>&1 &
	pid=$!
	ci/board/counters.sh || result=1
	ci/board/serial.sh || result=1
	ci/board/memory.sh || result=1
	wait "$pid" || result=1
	cat "$dir/push.log"
	return "$result"
}
# tests [PATTERN]; with --all or a pattern, also those that .config/nextest.toml excludes
tests() {
	local profile=default
	[ -z "$all$pattern" ] || profile=all
	if cargo nextest --version >/dev/null 2>&1; then
		linting_cargo nextest run --profile "$profile" --locked --workspace --all-targets --no-fail-fast "$@"
	else
		linting_cargo test --locked --workspace --all-targets --no-fail-fast "$@"
	fi
}
doc_tests() { linting_cargo test -q --locked --workspace --doc; }

if [ -n "$pattern" ]; then
	scripts/setup.sh --tests
	engines_and_models
	tests_build
	tests "$pattern"
	exit
fi
scripts/setup.sh "--${all:+all-}tests"
setsid ci/fetch.sh ${all:+--all} >"$CACHE/fetch.log" 2>&1 & # a separate process group, so that all of it can be ended
fetching=$!
step "shell scripts" shell_scripts
step "format" cargo fmt --all --check
step "build and lints" tests_build
step "engines and models" engines_and_models
step "tests" tests
step "examples in documents" doc_tests
step "static aarch64 agent" static_agent
# Compares times, so nothing runs in parallel.
[ -z "$all" ] || step "planted causes" ci/causes.sh --few --pairs 5
[ -z "$all" ] || in_parallel compiling tracing

echo
printf '%-22s %6s  %6s  %7s\n' step result time "of CPU"
cat "$dir/summary"
failed=$(grep -c ' FAILED ' "$dir/summary" || true)
sed -n 's/^==> fetched in/fetching, meanwhile:   /p' "$CACHE/fetch.log"
[ -n "$all" ] || echo "left out without --all: documentation, site, bare metal, other engines, kernels and transports, earlier versions, soak, fuzzing, fleets, other compilers, container build, supply chain"
if [ -z "${PROFINFER_NO_BPF:-}" ]; then echo "BPF: can be used here"; else echo "BPF: cannot be used here ($PROFINFER_NO_BPF), so real traces were not tested"; fi
sort -u "$PROFINFER_SKIPS" >"$dir/skipped"
echo "skipped: $(wc -l <"$dir/skipped")$([ "${PROFINFER_REQUIRE:-}" != 1 ] || echo ' (PROFINFER_REQUIRE=1: each is a failure)')"
sed 's/^/    /' "$dir/skipped"
echo "total: $SECONDS s"
echo "steps: $(($(wc -l <"$dir/summary") - failed)) passed, $failed failed"
[ "$failed" = 0 ]
