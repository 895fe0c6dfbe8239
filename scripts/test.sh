#!/usr/bin/env bash
# test.sh [--quick]      set up, check and test everything
#
#   --quick   format, lints and tests only: no docs, no bare-metal and no static build, no emulated boards
#
# Every step runs even when an earlier one failed; the end says which. Tests of a real
# trace need root and a kernel with BPF and uprobes. What they need is fetched into the cache
# first and named to them by the environment:
#   PROFINFER_ENGINE_DIR      launchers of a current llama.cpp (scripts/engine.sh)
#   PROFINFER_MID_ENGINE_DIR  those of b4600 (2025-01)
#   PROFINFER_OLD_ENGINE_DIR  those of b3889 (2024-10)
#   PROFINFER_MODELS_DIR      folder of NAME.gguf (scripts/model.sh)
#   PROFINFER_VENV            Python with the readers of requirements-tests.txt
#   PROFINFER_CHROMIUM        a Chromium, if there is one
#   PROFINFER_AGENT           the agent, built for release
#   PROFINFER_NO_BPF          why nothing can be traced here, where it cannot
# Each is taken as it is where it is set already.
set -eu
. "$(dirname "$0")/lib.sh"
quick=
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--quick) quick=1 ;;
'') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
cd "$REPO"
MODELS=(smollm2 dense-q8 dense-f16 dense-q4_0 dense-q4k moe-qwen60 moe-mixtral8 spec-target spec-draft)

summary=() failed=0
# step NAME COMMAND...
step() {
	local name=$1 start=$SECONDS result=ok
	shift
	say "$name"
	"$@" || result=FAILED
	[ $result = ok ] || failed=$((failed + 1))
	summary+=("$(printf '%-22s %6s  %4d s' "$name" "$result" $((SECONDS - start)))")
}

shell_scripts() {
	local files
	mapfile -t files < <(git ls-files -co --exclude-standard '*.sh' .ci/run)
	shellcheck "${files[@]}"
}
docs() { RUSTDOCFLAGS="-D warnings" cargo doc -q --locked --workspace --no-deps; }
# engine VARIABLE [ENGINE]: its launchers' folder into VARIABLE, unless that says already
engine() {
	local dir
	if [ -z "${!1:-}" ]; then
		dir=$(scripts/engine.sh "${@:2}") || return 1
		printf -v "$1" %s "$dir"
	fi
	export "${1?}"
}
fetch() {
	engine PROFINFER_ENGINE_DIR && engine PROFINFER_MID_ENGINE_DIR npm:b4600 &&
		engine PROFINFER_OLD_ENGINE_DIR npm:b3889 || return 1
	if [ -z "${PROFINFER_MODELS_DIR:-}" ]; then
		scripts/model.sh "${MODELS[@]}" >/dev/null || return 1
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
	if ! file "$out" | grep -q "statically linked" || [ "$size" -gt 2000000 ]; then
		echo "not one static file of at most 2 MB" >&2
		return 1
	fi
}
agent() {
	cargo build -q --locked --release -p profinfer-agent || return 1
	export PROFINFER_AGENT=$CARGO_TARGET_DIR/release/profinfer-agent
	local why
	why=$(have_bpf) || export PROFINFER_NO_BPF=$why
}
tests() {
	if cargo nextest --version >/dev/null 2>&1; then
		cargo nextest run --locked --workspace --no-fail-fast && cargo test -q --locked --workspace --doc
	else
		cargo test --locked --workspace --no-fail-fast
	fi
}

scripts/setup.sh --tests
step "shell scripts" shell_scripts
step "format" cargo fmt --all --check
step "lints" cargo clippy -q --locked --workspace --all-targets -- -D warnings
[ -n "$quick" ] || step "documentation" docs
[ -n "$quick" ] || step "wire on bare metal" ci/no-std.sh
step "engines and models" fetch
step "agent" agent
step "tests" tests
[ -n "$quick" ] || step "engines" ci/engines/matrix.sh
[ -n "$quick" ] || step "backends" ci/engines/backends.sh
[ -n "$quick" ] || step "other GGML programs" ci/engines/others.sh
[ -n "$quick" ] || step "static aarch64 agent" static_agent
[ -n "$quick" ] || step "kernels (board)" ci/board/matrix.sh
[ -n "$quick" ] || step "engines (board)" ci/board/engines.sh
[ -n "$quick" ] || step "counters (board)" ci/board/counters.sh
[ -n "$quick" ] || step "serial line (board)" ci/board/serial.sh
[ -n "$quick" ] || step "push (board)" ci/push/test.sh

echo
printf '%s\n' "${summary[@]}"
if why=$(have_bpf); then echo "BPF: can be used here"; else echo "BPF: cannot be used here ($why), so real traces were not tested"; fi
echo "total: $SECONDS s"
echo "steps: $((${#summary[@]} - failed)) passed, $failed failed"
[ "$failed" = 0 ]
