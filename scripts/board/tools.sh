# shellcheck shell=bash
# Programs of llama.cpp for the board, next to the libraries of the engine `debian`. Sourced by scripts/board.sh.

# part_tools NEW: llama-completion, and the libraries that it needs beyond those of the engine. Runs in a separate process.
part_tools() {
	local new=$1 all=$1/all lib=$1/all/usr/lib/$GNU name
	say "llama.cpp's programs of Debian unstable for $BOARD_ARCH"
	mkdir "$new/engine" "$new/lib"
	unpack "$all" "$DEB" sid llama.cpp-tools libllama0 libssl3t64 zlib1g libzstd1
	cp -L "$all/usr/bin/llama-completion" "$lib/llama/libllama-completion-impl.so" "$lib/libllama-common.so.0" "$new/engine/"
	for name in libssl.so.3 libcrypto.so.3 libz.so.1 libzstd.so.1; do cp -L "$lib/$name" "$new/lib/"; done
	rm -rf "$all"
}

# board_tools: brings them to a running board
board_tools() {
	local file
	[ "$ENGINE" = debian ] || die "only the engine \`debian\` has such programs" "BOARD_ENGINE=debian scripts/board.sh up"
	need_running
	part tools scripts/board/tools.sh part_tools || die "llama.cpp's programs for the board cannot be fetched" "They come from Debian's unstable suite."
	for file in "$PARTS"/tools/engine/*; do board_put "$file" /engine; done
	for file in "$PARTS"/tools/lib/*; do board_put "$file" /lib; done
	# Where Debian's programs look for their libraries.
	on_board "mkdir -p /usr/lib/$GNU && ln -sfn /engine /usr/lib/$GNU/llama" </dev/null
}
