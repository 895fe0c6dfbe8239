# shellcheck shell=bash
# Builds for arm64, which are examined only. Sourced by matrix.sh.

. "$REPO/scripts/engine/npm.sh"

# arm64_files BUILD: prints a folder with the libraries of the build
#   npm:RELEASE       of node-llama-cpp, as scripts/engine.sh has them for x86-64
#   npm:PACKAGE@VERSION/FOLDER   a folder of any npm package
arm64_files() {
	local key=${1//[:\/@]/-} dir
	dir=$CACHE/engine-arm64/$key
	[ -d "$dir" ] || with_lock "engine-arm64-$key" arm64_fetch "$1" "$dir" >&2
	echo "$dir"
}

arm64_fetch() {
	local what=${1#npm:} dir=$2 package from
	have npm || need_pkgs npm
	rm -rf "$dir.new"
	case $what in
	*@*/*) # the folder begins behind the version
		package=$(sed -E 's|^(@?[^@]*@[^/]*)/.*|\1|' <<<"$what")
		from=${what#"$package/"}
		;;
	b1660 | b1892 | b2717 | b3166 | b3658)
		package=node-llama-cpp@$(npm_version "$what")
		from='*ins/linux-arm64'
		;;
	*) package=@node-llama-cpp/linux-arm64@$(npm_version "$what") from=bins/linux-arm64 ;;
	esac
	npm_unpack "$dir.new/package" "$package"
	mkdir "$dir.new/files"
	# shellcheck disable=SC2086  # a pattern
	find "$dir.new/package"/$from -maxdepth 1 -type f \( -name '*.so' -o -name '*.node' \) -exec mv -t "$dir.new/files" {} +
	[ ! -f "$dir.new/files/libllama.so" ] || rm -f "$dir.new"/files/*.node
	mv "$dir.new/files" "$dir"
	rm -rf "$dir.new"
}
