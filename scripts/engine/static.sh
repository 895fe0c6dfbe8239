# shellcheck shell=bash
# The recipe `static:RELEASE`: llama.cpp linked into one program, as many products ship it. No registry has such a
# program for these models with its symbols, so it is made here: the release's own sources, which npm carries, built as they say, with
# ci/drivers/nodes.cpp as the program. Sourced by engine.sh, and for arm64 by ci/engines/arm64.sh.

# engine_static RELEASE NEW [CMAKE_OPTION...]: fills NEW, which will be moved elsewhere
engine_static() {
	local release=$1 new=$2 version src lib
	shift 2
	version=$(npm_version "$release")
	have npm || need_pkgs npm
	have git || need_pkgs git
	have cmake || need_pkgs cmake
	have ninja || need_pkgs ninja-build
	have g++ || need_pkgs g++ libc6-dev
	say "llama.cpp $release in one program, from its sources (some minutes)"
	npm_unpack "$new/main" "node-llama-cpp@$version"
	src=$new/src lib=$new/lib
	git -c init.defaultBranch=main -c advice.detachedHead=false clone -q "$new/main/llama/gitRelease.bundle" "$src" 2>"$new/git.log" ||
		die "git could not read the source bundle in node-llama-cpp@$version" "$(tail -n 1 "$new/git.log")"
	rm -rf "$new/main"
	# Instructions of every machine of the last ten years, whatever this one has; the threads are GGML's own.
	{
		cmake -S "$src" -B "$lib" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON \
			-DGGML_F16C=ON -DGGML_BMI2=ON -DGGML_OPENMP=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF \
			-DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF "$@" &&
			hasten "$lib/build.ninja" &&
			ninja -C "$lib" llama
	} >"$new/build.log" 2>&1 || die "llama.cpp $release could not be built" "$(tail -n 5 "$new/build.log")"
	mkdir -p "$new/exe" "$new/bin"
	build_nodes "$new/exe/nodes" "$src/include $src/ggml/include" "$lib/src/libllama.a" "$lib/ggml/src/libggml.a" \
		"$lib/ggml/src/libggml-cpu.a" "$lib/ggml/src/libggml-base.a" -static -pthread
	rm -rf "$src" "$lib" "$new/git.log" "$new/build.log"
	ln -s ../exe/nodes "$new/bin/nodes"
	echo "$release, in one program, from the sources in node-llama-cpp@$version" >"$new/VERSION"
}

# hasten NINJA_FILE: libllama, whose hundred models are two thirds of the time, with less optimisation than GGML, in whose code
# the operators are found: it takes half as long.
hasten() {
	awk '/^build / { llama = /src\/CMakeFiles\/llama.dir\// } llama && /^  FLAGS = / { sub("-O3", "-O1") } { print }' "$1" >"$1.new" && mv "$1.new" "$1"
}
