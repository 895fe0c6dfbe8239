# shellcheck shell=bash
# The recipes `addon:NAME`: a whole engine in one addon of Node.js, made with clang and stripped, driven by ci/drivers/nodes.cpp.
# The package that the addon belongs to carries its headers. Sourced by engine.sh, which has sourced npm.sh.

ADDONS="
fugood         @fugood/node-llama-linux-x64@1.7.15         @fugood/llama.node@1.7.15
fugood+vulkan  @fugood/node-llama-linux-x64-vulkan@1.7.15  @fugood/llama.node@1.7.15
"

# engine_addon NAME NEW: fills NEW, which will be moved elsewhere
engine_addon() {
	local name=$1 new=$2 package headers
	package=$(awk -v n="$name" '$1 == n { print $2 }' <<<"$ADDONS")
	[ -n "$package" ] || die "no addon pinned for the engine 'addon:$name'" "Known: $(awk 'NF { printf "%s ", $1 }' <<<"$ADDONS")"
	have npm || need_pkgs npm
	say "$package from npm"
	npm_unpack "$new/package" "$package"
	npm_unpack "$new/main" "$(awk -v n="$name" '$1 == n { print $3 }' <<<"$ADDONS")"
	headers=$new/main/src/llama.cpp
	mkdir "$new/exe"
	mv "$new/package/index.node" "$new/exe/llama-addon.node"
	rm -rf "$new/package"
	no_node "$new/exe" llama-addon.node
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_nodes "$new/exe/nodes" "$headers/include $headers/ggml/include" -Wl,--no-as-needed "$new/exe/libno-node.so" -rdynamic "-L$new/exe" -l:llama-addon.node \
		-Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN' -ldl
	# The addon calls itself by another name than its file has.
	ln -s llama-addon.node "$new/exe/index.node"
	rm -rf "$new/main"
	echo "the Node.js addon $package" >"$new/VERSION"
	ln -s ../exe/nodes "$new/bin/nodes"
}
