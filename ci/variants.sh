#!/usr/bin/env bash
# variants.sh [--list] [VARIANT...]      the tests of real traces, once under each CPU variant of the engine
#
#   --list     print the variants of the present engine that this machine can run
#   VARIANT    these only, for example: haswell zen4 repacked
#
# The engine contains its CPU backend compiled for several processors, and loads the best one that
# runs. The backend determines the instructions of operators, and which weights are repacked into a
# buffer of the engine instead of being read from the file. No test may depend on it. For each
# variant, makes a folder with only that CPU backend, and runs the tests that trace this engine.
# Last, `repacked`: the best variant, with every model in a weight type that is repacked. On a CPU
# with AMX, the engine repacks every type but F32.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/variant_folder.sh"
list='' only=()
for arg; do
	case $arg in
	-h | --help) usage_from_head "$0"; exit ;;
	--list) list=1 ;;
	-*) die "unknown argument '$arg'" "$(usage_from_head "$0" | head -n 1)" ;;
	*) only+=("$arg") ;;
	esac
done
engine=$("$REPO/scripts/engine.sh")
engine=${engine%/bin}
model=$("$REPO/scripts/model.sh" dense-q4)
# loaded BIN: the name of the CPU backend that the engine loads, and how many MiB of a model that most repack lie where
loaded() {
	"$1/nodes" -m "$model" -t 1 -p 1 -n 1 --verbose 2>&1 >/dev/null | awk '
		/loaded CPU backend from/ { sub(".*/libggml-cpu-", ""); sub("[.]so.*", ""); name = $0 }
		/CPU_Mapped model buffer size/ { mapped += $(NF - 1) }
		/(CPU_REPACK|AMX) model buffer size/ { repacked += $(NF - 1) }
		END { if (name != "" && mapped + repacked > 0) printf "%s\t%.2f\t%.2f\n", name, mapped, repacked }'
}

# The models of all tests under their own names, with weights that are repacked. Other models stay unchanged.
repacked_models() {
	local to=$dir/models
	mkdir -p "$to"
	ensure_venv tools
	"$VENV/bin/python" "$REPO/scripts/gen_models.py" --weights Q4_0 "$to" "${TEST_MODELS[@]/smollm2/dense-q4}" >&2 || return 1
	"$VENV/bin/python" "$REPO/scripts/gen_models.py" "$to" dense-f32 >&2 || return 1
	ln -sf "$("$REPO/scripts/model.sh" smollm2)" "$to/smollm2.gguf"
	echo "$to"
}

best=$(loaded "$engine/bin")
best=${best%%$'\t'*}
[ -n "$best" ] || die "this engine has one CPU backend for every processor: $(cat "$engine/VERSION")" "There is nothing to choose."
variants=()
for file in "$engine"/exe/libggml-cpu-*.so; do
	name=${file##*/libggml-cpu-} name=${name%.so}
	bin=$(variant_folder "$name" "$engine")
	IFS=$'\t' read -r found mapped repacked <<<"$(loaded "$bin")"
	if [ "$found" != "$name" ]; then
		rm -rf "${bin%/bin}"
		[ -z "$list" ] || printf '%-16s cannot run here\n' "$name"
		continue
	fi
	variants+=("$name")
	[ -z "$list" ] || printf '%-16s of Q4_0 %5s MiB mapped, %5s MiB repacked%s\n' "$name" "$mapped" "$repacked" "$([ "$name" != "$best" ] || echo '; the one that is chosen here')"
done
[ -z "$list" ] || exit 0
[ ${#only[@]} -gt 0 ] || only=("${variants[@]}" repacked)

! cannot_trace "CPU variants" || exit 0
"$REPO/scripts/model.sh" "${TEST_MODELS[@]}" >/dev/null
# Tests with the current engine, with another one that runs in parallel, and with GGML's BLAS backend from Debian.
PROFINFER_OLD_ENGINE_DIR=$("$REPO/scripts/engine.sh" npm:b3889)
blas=''
[ "${engine##*/}" != debian ] || blas=$("$REPO/scripts/engine.sh" debian+blas)
export PROFINFER_OLD_ENGINE_DIR
tests_build
rows=() failed=0
# run VARIANT NAME: the tests on that variant, and a row
run() {
	local start=$SECONDS log=$dir/log/$2 result=ok
	export PROFINFER_ENGINE_DIR=$dir/${engine##*/}-$1/bin
	[ -d "$PROFINFER_ENGINE_DIR" ] || die "no variant '$1' that runs here" "Those that do: ci/variants.sh --list"
	say "$2"
	mkdir -p "$dir/log"
	tests_of oracle --test-threads 1 --skip b4600_ --skip b3889_ >"$log" 2>&1 || result=FAILED
	if [ -n "$blas" ]; then
		PROFINFER_BLAS_ENGINE_DIR=$(variant_folder "$1" "${blas%/bin}") tests_of oracle --ignored backends::blas >>"$log" 2>&1 || result=FAILED
	fi
	if [ $result = FAILED ]; then
		failed=$((failed + 1))
		grep -E ' --- FAILED|^error' "$log" >&2 || tail -n 5 "$log" >&2
	fi
	rows+=("$(printf '%-16s %6s  %4d s  %s' "$2" $result $((SECONDS - start)) "$(sed -n 's/^test result: [A-Za-z]*[.] \([0-9]* passed; [0-9]* failed\).*/\1/p' "$log" | paste -sd+ | sed 's/+/ + /')")")
	note "${rows[-1]}"
}
for name in "${only[@]}"; do
	export PROFINFER_MODELS_DIR=$CACHE/models
	if [ "$name" != repacked ]; then run "$name" "$name"; else
		PROFINFER_MODELS_DIR=$(repacked_models)
		run "$best" repacked
	fi
done
printf '%s\n' "${rows[@]}" "CPU variants: ${#rows[@]} in $SECONDS s, $failed failed"
[ "$failed" = 0 ]
