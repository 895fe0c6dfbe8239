# shellcheck shell=bash
# The recipe `static:RELEASE`: llama.cpp linked into one program, as many products ship it. No registry has such a
# program for these models with its symbols. So it is built here from the release's own sources, with
# ci/drivers/nodes.cpp as the program. npm has the sources of the releases up to v0.5.0. A crate has those of v0.8.0, of
# which no registry has binaries. Sourced by engine.sh, and for arm64 by ci/engines/arm64.sh.

# Releases whose sources are in the crate llama-cpp-sys-4, and its version. The crate has upstream's tree of that day
# (0.8.0-dev). Its patches are applied by its build.rs, which does not run here.
STATIC_CRATES="
v0.8.0 0.11.0
"

# static_sources RELEASE NEW: fills NEW/src, and prints the package that the sources are from
static_sources() {
	local version
	version=$(awk -v r="$1" '$1 == r { print $2 }' <<<"$STATIC_CRATES")
	if [ -n "$version" ]; then static_crate "$1" "$2" "$version"; else static_npm "$1" "$2"; fi
}

static_npm() {
	local version
	version=$(npm_version "$1") || exit 1
	have npm || need_pkgs npm
	have git || need_pkgs git
	npm_unpack "$2/main" "node-llama-cpp@$version"
	git -c init.defaultBranch=main -c advice.detachedHead=false clone -q "$2/main/llama/gitRelease.bundle" "$2/src" 2>"$2/git.log" ||
		die "git could not read the source bundle in node-llama-cpp@$version" "$(tail -n 1 "$2/git.log")"
	rm -rf "$2/main" "$2/git.log"
	echo "node-llama-cpp@$version"
}

# static_crate RELEASE NEW VERSION: cargo fetches crates for a project only, so there is one that needs this crate
static_crate() {
	local project=$2/main manifest tree
	have cargo || die "cargo is missing, which fetches the sources of llama.cpp $1" "Rust's own installer has it: see README.md."
	mkdir -p "$project/src"
	: >"$project/src/lib.rs"
	cat >"$project/Cargo.toml" <<-X
		[package]
		name = "sources"
		version = "0.0.0"
		edition = "2021"
		[dependencies]
		llama-cpp-sys-4 = { version = "=$3", default-features = false }
		[workspace]
	X
	(cd "$project" && cargo metadata --quiet --format-version 1 --filter-platform x86_64-unknown-linux-gnu) >"$project/metadata" 2>"$project/log" ||
		die "cargo could not fetch llama-cpp-sys-4 $3" "$(tail -n 2 "$project/log")" "Is the registry of crates reachable from here?"
	manifest=$(grep -o "[^\"]*/llama-cpp-sys-4-$3/Cargo.toml" "$project/metadata" | head -n 1)
	tree=${manifest%/*}/llama.cpp
	[ "$(static_version "$tree/CMakeLists.txt")" = "${1#v}" ] || die "llama-cpp-sys-4 $3 is not llama.cpp $1, as pinned" "See scripts/engine/static.sh."
	cp -r "$tree" "$2/src"
	rm -rf "$project"
	echo "llama-cpp-sys-4@$3"
}

# static_version CMAKE_FILE: the release that llama.cpp's own CMakeLists.txt names
static_version() { sed -n 's/^set(LLAMA_VERSION_[MP][A-Z]* \([0-9]*\)).*/\1/p' "$1" | paste -sd .; }

# engine_static RELEASE NEW [CMAKE_OPTION...]: fills NEW, which will be moved elsewhere
engine_static() {
	local release=$1 new=$2 package src lib
	shift 2
	have cmake || need_pkgs cmake
	have ninja || need_pkgs ninja-build
	have g++ || need_pkgs g++ libc6-dev
	say "llama.cpp $release in one program, from its sources (some minutes)"
	package=$(static_sources "$release" "$new") || exit 1
	src=$new/src lib=$new/lib
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
	rm -rf "$src" "$lib" "$new/build.log"
	ln -s ../exe/nodes "$new/bin/nodes"
	echo "$release, in one program, from the sources in $package" >"$new/VERSION"
}

# hasten NINJA_FILE: libllama, whose hundred models are two thirds of the time, with less optimisation than GGML, in whose code
# the operators are found: it takes half as long.
hasten() {
	awk '/^build / { llama = /src\/CMakeFiles\/llama.dir\// } llama && /^  FLAGS = / { sub("-O3", "-O1") } { print }' "$1" >"$1.new" && mv "$1.new" "$1"
}
