# shellcheck shell=bash
# The recipe `npm:RELEASE`: the prebuilt shared libraries of @node-llama-cpp/linux-x64, which
# need glibc 2.34 and nothing else, driven by ci/drivers/nodes.cpp. Sourced by engine.sh.

# Releases of llama.cpp and the npm version that has them (each says so in its _nlcBuildMetadata.json, or in the
# llama/binariesGithubRelease.json of the main package), with what differs.
NPM_RELEASES="
b1660  2.8.3          2023-12  one file; operators in phases; no eval callback
b1892  3.0.0-beta.4   2024-01  one file
b2717  3.0.0-beta.17  2024-04  one file; scheduler calls are asynchronous
b3166  3.0.0-beta.32  2024-06  one file
b3658  2.8.16         2024-09  no phases; libggml and libllama
b3889  3.1.1          2024-10  packages of libraries only
b3995  3.2.0          2024-10
b4234  3.3.0          2024-12  split into libggml-base and libggml-cpu; no gradients in tensors
b4291  3.3.2          2024-12  other kernels are asked first
b4435  3.4.0          2025-01  CPU variants loaded at run time
b4600  3.5.0          2025-01
b4753  3.6.0          2025-02
b4980  3.7.0          2025-03  the last here with ggml_compute_forward as a symbol
b5590  3.9.0          2025-06  kernels are functions of their own; the dispatcher is not
b5640  3.10.0         2025-06
b6133  3.12.1         2025-08
b6431  3.13.0         2025-09
b6845  3.14.2         2025-10
b7836  3.15.1         2026-01  nodes that nothing needs are skipped
b8121  3.16.2         2026-02
b8390  3.18.1         2026-03
b9842  3.19.0         2026-06  fused operators; graphs are numbered
b10361 3.20.0         2026-08
v0.4.0 3.21.1         2026-09
v0.5.0 3.22.1         2026-09
"

# npm_version RELEASE
npm_version() {
	local found known
	found=$(awk -v r="$1" '$1 == r { print $2 }' <<<"$NPM_RELEASES")
	known=$(awk 'NF { printf "%s ", $1 }' <<<"$NPM_RELEASES")
	[ -n "$found" ] || die "no npm package pinned for llama.cpp '$1'" "Known releases: $known"
	echo "$found"
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
	local release=${1%+vulkan} new=$2 variant='' version src l lib=() options=()
	[ "$release" = "$1" ] || variant=-vulkan
	version=$(npm_version "$release")
	have npm || need_pkgs npm
	have git || need_pkgs git
	say "llama.cpp $release from npm ($version)"
	# The main package carries the release's source tree as a git bundle, and up to b3658 the libraries too.
	npm_unpack "$new/main" "node-llama-cpp@$version"
	grep -q "\"release\": *\"$release\"" "$new/main/llama/binariesGithubRelease.json" ||
		die "node-llama-cpp@$version is not llama.cpp $release, as pinned" "See scripts/engine/npm.sh."
	npm_libraries "$release" "$new" "$version" "$variant"
	src=$new/src
	git -c init.defaultBranch=main clone -q --no-checkout "$new/main/llama/gitRelease.bundle" "$src" 2>"$new/git.log" ||
		die "git could not read the source bundle in node-llama-cpp@$version" "$(tail -n 1 "$new/git.log")"
	for l in include ggml/include llama.h ggml.h ggml-alloc.h ggml-backend.h; do # the last four: before 2024-07
		! git -C "$src" cat-file -e "HEAD:$l" 2>/dev/null || git -C "$src" checkout -q HEAD -- "$l"
	done
	rm -rf "$new/main"
	for l in "$new"/exe/llama-addon.node "$new"/exe/libllama*.so "$new"/exe/libggml.*so "$new"/exe/libggml-base.so; do
		[ ! -f "$l" ] || lib+=("$l")
	done
	if [ -f "$new/exe/llama-addon.node" ]; then
		no_node "$new/exe" llama-addon.node
		options=("$new/exe/libno-node.so" -rdynamic)
	fi
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_nodes "$new/exe/nodes" "$src $src/include $src/ggml/include" -Wl,--no-as-needed "${options[@]}" "${lib[@]}" '-Wl,-rpath,$ORIGIN' -ldl
	mkdir "$new/include" # for those who have a build of nearly the same release, and no headers
	cp "$src"/*.h "$src"/include/*.h "$src"/ggml/include/*.h "$new/include/" 2>/dev/null || true
	rm -rf "$src" "$new/git.log"
	echo "$release${variant/-/ with }, from npm" >"$new/VERSION"
	ln -s ../exe/nodes "$new/bin/nodes"
}

# npm_libraries RELEASE NEW VERSION [-vulkan]: the release's libraries in NEW/exe, where the program will lie too: there the
# engine looks for its CPU variants.
npm_libraries() {
	local release=$1 new=$2 version=$3 package=linux-x64${4:-} dir
	for dir in "$new/main/llamaBins/$package" "$new/main/bins/$package"; do
		[ -d "$dir" ] || continue
		mv "$dir" "$new/exe"
		# A whole engine where it lies alone; next to libllama.so it only speaks with Node.js.
		[ ! -f "$new/exe/libllama.so" ] || rm -f "$new"/exe/*.node
		return 0
	done
	npm_unpack "$new/libs" "@node-llama-cpp/$package@$version"
	grep -q "\"release\": *\"$release\"" "$new/libs/bins/$package"/_nlcBuildMetadata.json ||
		die "@node-llama-cpp/$package@$version is not llama.cpp $release, as pinned" "See scripts/engine/npm.sh."
	mv "$new/libs/bins/$package" "$new/exe"
	rm -rf "$new/libs" "$new"/exe/*.node
}

# no_node DIR ADDON: a library with empty functions for those of Node.js that the addon names. None is called on our way
# through it, but that it makes itself known when it is loaded.
no_node() {
	nm -D --undefined-only "$1/$2" | awk '$2 ~ /^napi_/ { print "int " $2 "(void) { return 0; }" }' >"$1/no-node.c"
	gcc -O2 -fPIC -shared -Wl,-soname,libno-node.so -o "$1/libno-node.so" "$1/no-node.c" >&2 || die "the stand-in for Node.js does not compile"
	rm -f "$1/no-node.c"
}
