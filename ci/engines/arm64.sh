# shellcheck shell=bash
# Builds for arm64. Sourced by matrix.sh, which examines them, and by ci/board/engines.sh, which runs them.

. "$REPO/scripts/engine/npm.sh"
. "$REPO/scripts/engine/nodes.sh"
. "$REPO/scripts/engine/static.sh"

# arm64_files BUILD: prints a folder with the libraries of the build, and with its driver if it is one that runs here
#   npm:RELEASE       of node-llama-cpp, as scripts/engine.sh has them for x86-64
#   static:RELEASE    linked into one program, made from its sources
#   stripped:BUILD    the same without its symbols
#   npm:PACKAGE@VERSION/FOLDER   a folder of any npm package; without a driver
arm64_files() {
	local key=${1//[:\/@]/-} dir from
	dir=$CACHE/engine-arm64/$key
	case $1 in
	stripped:*)
		need_pkgs binutils-aarch64-linux-gnu
		from=$(arm64_files "${1#stripped:}") || return 1
		[ "$dir/exe" -nt "$from/../.recipe" ] || with_lock "engine-arm64-$key" strip_all aarch64-linux-gnu-strip "$from" "$dir" >&2
		echo "$dir/exe"
		;;
	static:*)
		[ "$(cat "$dir/.recipe" 2>/dev/null)" = "$(static_recipe)" ] || with_lock "engine-arm64-$key" arm64_static "${1#static:}" "$dir" >&2
		echo "$dir/exe"
		;;
	npm:*@*/*)
		[ -d "$dir" ] || with_lock "engine-arm64-$key" arm64_fetch "${1#npm:}" "$dir" >&2
		echo "$dir"
		;;
	*) "$REPO/scripts/board.sh" engine "${1#npm:}" ;;
	esac
}

static_recipe() { (cd "$REPO" && cat scripts/engine/static.sh scripts/engine/nodes.sh ci/drivers/nodes.cpp | sha256sum | cut -c1-16); }

# arm64_static RELEASE DIR: the recipe for x86-64 with the tools of arm64
arm64_static() (
	need_pkgs g++-aarch64-linux-gnu libc6-dev-arm64-cross
	# shellcheck disable=SC2317  # called by the recipe
	g++() { aarch64-linux-gnu-g++ "$@"; }
	rm -rf "$2" "$2.new"
	mkdir -p "$2.new"
	engine_static "$1" "$2.new" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
		-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
	static_recipe >"$2.new/.recipe"
	mv "$2.new" "$2"
)

# arm64_fetch PACKAGE@VERSION/FOLDER DIR
arm64_fetch() {
	local what=$1 dir=$2 package from
	have npm || need_pkgs npm
	rm -rf "$dir.new"
	package=$(sed -E 's|^(@?[^@]*@[^/]*)/.*|\1|' <<<"$what") # the folder comes after the version
	from=${what#"$package/"}
	npm_unpack "$dir.new/package" "$package"
	mkdir "$dir.new/files"
	find "$dir.new/package/$from" -maxdepth 1 -type f \( -name '*.so' -o -name '*.node' \) -exec mv -t "$dir.new/files" {} +
	mv "$dir.new/files" "$dir"
	rm -rf "$dir.new"
}

# strip_all STRIP FROM TO: the libraries and the program of a build without their symbols, in TO/exe
strip_all() {
	local file
	rm -rf "$3"
	mkdir -p "$3/exe" "$3/bin"
	cp -a "$2"/* "$3/exe"
	for file in "$3"/exe/*.so "$3"/exe/*.node "$3/exe/nodes"; do [ ! -f "$file" ] || "$1" --strip-all "$file"; done
	ln -s ../exe/nodes "$3/bin/nodes"
}
