# shellcheck shell=bash
# Compiles ci/drivers/nodes.cpp against one release's headers and libraries. Sourced by engine.sh.

# build_nodes OUT INCLUDE_DIRS LIBRARIES_AND_LINKER_OPTIONS...
build_nodes() {
	local out=$1 includes=$2 dir flags=(-DNODES_NO_CALLBACK) inc=()
	shift 2
	for dir in $includes; do
		inc+=("-I$dir")
		! grep -qs llama_vocab_n_tokens "$dir/llama.h" || flags+=(-DNODES_NEW_NAMES)
		! grep -qs llama_vocab_n_tokens "$dir/llama.h" || grep -qs llama_model_free "$dir/llama.h" || flags+=(-Dllama_model_free=llama_free_model) # forks
		! grep -qs llama_memory_clear "$dir/llama.h" || flags+=(-DNODES_MEMORY)
		! grep -qs llama_kv_self_clear "$dir/llama.h" || flags+=(-DNODES_KV_SELF)
		! grep -qs cb_eval_user_data "$dir/llama.h" || flags[0]=-UNODES_NO_CALLBACK
		! grep -qs 'enum llama_load_mode  load_mode' "$dir/llama.h" || flags+=(-DNODES_LOAD_MODE)
		! grep -qs 'ggml_threadpool_new ' "$dir/ggml.h" || flags+=(-DNODES_THREADPOOL)
		! grep -qs ggml_backend_load_all "$dir/ggml-backend.h" || flags+=(-DNODES_LOAD_ALL)
	done
	have g++ || need_pkgs g++ libc6-dev
	# The libraries may have been made for a newer libstdc++ than the compiler's own.
	g++ -std=c++17 -O2 -Wall "${flags[@]}" "${inc[@]}" "$REPO/ci/drivers/nodes.cpp" -o "$out" \
		-Wl,--allow-shlib-undefined "$@" >&2 || die "the driver ci/drivers/nodes.cpp does not compile against this release"
}
