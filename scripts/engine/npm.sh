# shellcheck shell=bash
# The recipe `npm:RELEASE`: the prebuilt shared libraries of @node-llama-cpp/linux-x64, which
# need glibc 2.34 and nothing else, driven by ci/drivers/nodes.cpp. Sourced by engine.sh.

# npm version of the package for a release of llama.cpp (each says so in its _nlcBuildMetadata.json).
npm_version() {
	case $1 in
	b3889) echo 3.1.1 ;; # 2024-10; ggml in one library
	b4234) echo 3.3.0 ;; # 2024-12; split into libggml-base and libggml-cpu
	b4435) echo 3.4.0 ;; # 2025-01; CPU variants loaded at run time
	b4600) echo 3.5.0 ;; # 2025-01
	b4753) echo 3.6.0 ;; # 2025-02
	b4980) echo 3.7.0 ;; # 2025-03; the last here with ggml_compute_forward as a symbol
	v0.5.0) echo 3.22.1 ;; # 2026-09
	*) die "no npm package pinned for llama.cpp '$1'" "Known releases: b3889 b4234 b4435 b4600 b4753 b4980 v0.5.0" ;;
	esac
}

# npm_unpack DIR PACKAGE@VERSION: the package's files in DIR
npm_unpack() {
	mkdir -p "$1"
	(cd "$1" && npm pack --silent "$2" >/dev/null 2>npm.log) ||
		die "npm could not fetch $2" "$(tail -n 2 "$1/npm.log")" "Is the npm registry reachable from here?"
	tar -C "$1" -xzf "$1"/*.tgz --strip-components=1
	rm -f "$1"/*.tgz "$1/npm.log"
}

# engine_npm RELEASE NEW: fills NEW, which will be moved elsewhere
engine_npm() {
	local release=$1 new=$2 version src l lib
	version=$(npm_version "$release")
	have npm || need_pkgs npm
	have git || need_pkgs git
	say "llama.cpp $release from npm ($version)"
	npm_unpack "$new/libs" "@node-llama-cpp/linux-x64@$version"
	grep -q "\"release\": *\"$release\"" "$new"/libs/bins/linux-x64/_nlcBuildMetadata.json ||
		die "@node-llama-cpp/linux-x64@$version is not llama.cpp $release, as pinned" "See scripts/engine/npm.sh."
	# exe/: where the program lies, the engine looks for its CPU variants
	mv "$new/libs/bins/linux-x64" "$new/exe"
	rm -rf "$new/libs" "$new"/exe/*.node

	# The same version of the main package carries the release's source tree as a git bundle.
	say "its headers"
	npm_unpack "$new/main" "node-llama-cpp@$version"
	src=$new/src
	{
		git -c init.defaultBranch=main clone -q --no-checkout "$new/main/llama/gitRelease.bundle" "$src" &&
			git -C "$src" checkout -q HEAD -- include ggml/include
	} 2>"$new/git.log" || die "git could not read the source bundle in node-llama-cpp@$version" "$(tail -n 1 "$new/git.log")"
	rm -rf "$new/main"
	lib=()
	for l in "$new"/exe/libllama.so "$new"/exe/libllama.v*.so "$new"/exe/libggml.so "$new"/exe/libggml.v*.so "$new"/exe/libggml-base.so; do
		[ ! -f "$l" ] || lib+=("$l")
	done
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_nodes "$new/exe/nodes" "$src/include $src/ggml/include" -Wl,--no-as-needed "${lib[@]}" '-Wl,-rpath,$ORIGIN'
	rm -rf "$src" "$new/git.log"
	echo "$release, from npm" >"$new/VERSION"
	ln -s ../exe/nodes "$new/bin/nodes"
}
