# shellcheck shell=bash
# llama.cpp for the board: the prebuilt libraries of @node-llama-cpp/linux-arm64 with our
# ci/drivers/nodes.cpp as the program, the same release as `scripts/engine.sh npm:RELEASE`
# gives on x86-64. Sourced by scripts/board.sh.
# shellcheck source=SCRIPTDIR/../engine/nodes.sh
. "$REPO/scripts/engine/nodes.sh"
# shellcheck source=SCRIPTDIR/../engine/npm.sh
. "$REPO/scripts/engine/npm.sh"

# engine_headers NEW RELEASE: NEW/src with the release's headers, as git bundle in the main package
engine_headers() {
	npm_unpack "$1/main" "node-llama-cpp@$(npm_version "$2")"
	git -c init.defaultBranch=main clone -q --no-checkout "$1/main/llama/gitRelease.bundle" "$1/src"
	git -C "$1/src" checkout -q HEAD -- include ggml/include
	rm -rf "$1/main"
}

part_engine() {
	local new=$1 release=$2 l lib=()
	say "llama.cpp $release for arm64, from npm"
	have npm || need_pkgs npm
	have git || need_pkgs git
	need_pkgs g++-aarch64-linux-gnu libc6-dev-arm64-cross
	npm_unpack "$new/libs" "@node-llama-cpp/linux-arm64@$(npm_version "$release")"
	grep -q "\"release\": *\"$release\"" "$new"/libs/bins/linux-arm64/_nlcBuildMetadata.json
	mv "$new/libs/bins/linux-arm64" "$new/engine"
	rm -rf "$new/libs" "$new"/engine/libllama-common.so "$new"/engine/*.node "$new"/engine/*.json
	engine_headers "$new" "$release" 2>/dev/null
	for l in "$new"/engine/libllama.so "$new"/engine/libllama.v*.so "$new"/engine/libggml.so "$new"/engine/libggml.v*.so "$new"/engine/libggml-base.so; do
		[ ! -f "$l" ] || lib+=("$l")
	done
	g++() { aarch64-linux-gnu-g++ "$@"; } # for build_nodes
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_nodes "$new/engine/nodes" "$new/src/include $new/src/ggml/include" -Wl,--no-as-needed "${lib[@]}" '-Wl,-rpath,$ORIGIN'
	rm -rf "$new/src"
	echo "$release, from npm" >"$new/VERSION"
}

# The release that is on the board unless one says otherwise.
ENGINE=${BOARD_ENGINE:-v0.5.0}
need_engine() {
	part glibc scripts/board/fetch.sh part_glibc || die "the C library for arm64 cannot be had" "It comes from Debian's bookworm."
	part "engine/$ENGINE" "scripts/board/engine.sh scripts/engine/npm.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" part_engine "$ENGINE" ||
		die "llama.cpp $ENGINE for arm64 cannot be had"
}
