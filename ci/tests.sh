# shellcheck shell=bash
# Shared by the steps of scripts/test.sh, so that each of them can also run alone. Sourced, after
# scripts/lib.sh.

# shellcheck disable=SC2034  # for those who source this
TEST_MODELS=(smollm2 dense-q8 dense-f16 dense-f32 dense-q4 dense-q4k moe-qwen60 moe-mixtral8 spec-target spec-draft gemma2-q8 qwen2-q8 mamba-q8 lfm2-q8 deep-q8 deeper-q8 deepest-q8)

# cargo of the tests: the build also runs clippy, so that nothing is compiled twice. Released or timed programs are built without it,
# since it leaves the optimisations of MIR out (not those of LLVM).
linting_cargo() { RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings cargo "$@"; }

# Build the tests and their programs, `analyze` and the agent, at once and for the complete workspace: cargo selects the features
# of dependencies by the selected packages, so `-p one-crate` would compile most of them a second time. The agent of the
# tests is not optimised as the released one is, which takes minutes for nothing that a test sees; overflows are checked in it.
# The emulated boards run the released one.
tests_build() {
	[ -n "${TESTS_BUILT:-}" ] || linting_cargo test -q --locked --manifest-path "$REPO/Cargo.toml" --workspace --all-targets --no-run || return 1
	export TESTS_BUILT=1 PROFINFER_AGENT=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent}
	# shellcheck disable=SC2034
	ANALYZE=$CARGO_TARGET_DIR/debug/analyze
}

# tests_of BINARY ARGUMENTS...: tests of tests/BINARY, of whichever crate has it. Those that are named in the arguments run although
# they are ignored otherwise: a script feeds them.
tests_of() { (cd "$REPO" && linting_cargo test -q --locked --workspace --test "$1" -- "${@:2}"); }

# cannot_trace NAME: where nothing can be traced here, NAME is skipped
cannot_trace() {
	local why
	if why=$(have_bpf); then return 1; fi
	skip "$1" "nothing can be traced here: $why"
}

# Set `agent` and `analyze`, with which the scripts of this folder record; built unless they are there. PROFINFER_AGENT and
# PROFINFER_ANALYZE name others.
programs() {
	agent=${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent}
	analyze=${PROFINFER_ANALYZE:-$CARGO_TARGET_DIR/debug/analyze}
	if ! [ -x "$agent" ] || ! [ -x "$analyze" ]; then tests_build; fi
}

# hash_of FILE...: of a recipe, which changes with its content
hash_of() { cat "$@" | sha256sum | cut -c1-16; }

# The models of scripts/gen_archs.py, and the hash of their recipe.
ARCHS=$CACHE/archs
archs_hash() { hash_of "$REPO"/scripts/gen_*.py "$REPO"/scripts/archs/*.py "$REPO/scripts/requirements.txt"; }

# generated FOLDER HASH NAME SCRIPT: model NAME of a script with the arguments FOLDER NAME, made unless it is there by the recipe of that hash
generated() {
	mkdir -p "$1"
	with_lock "model-$3" generated_alone "$@"
}
generated_alone() {
	local folder=$1 hash=$2 name=$3
	[ "$(cat "$folder/.$name.recipe" 2>/dev/null)" != "$hash" ] || return 0
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$REPO/scripts "$VENV/bin/python" "$4" "$folder" "$name" </dev/null || die "model $name could not be generated"
	echo "$hash" >"$folder/.$name.recipe"
}
