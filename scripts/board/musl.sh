# shellcheck shell=bash
# llama.cpp for a board without glibc: the library inside the Python package xllamacpp, built for
# musl, with musl itself from Debian and scripts/board/musl-nodes.c as the program. The nearest
# thing to an OpenHarmony engine that package registries hold. Sourced by scripts/board.sh.

XLLAMACPP=xllamacpp==0.2.13

part_musl() {
	local new=$1 root=$1/root dev=$1/dev include lib engine lib_so
	say "llama.cpp for arm64 musl, from the Python package index ($XLLAMACPP)"
	need_pkgs g++-aarch64-linux-gnu libc6-dev-arm64-cross
	ensure_venv tools
	"$VENV/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
		--platform musllinux_1_2_aarch64 --python-version 3.12 -d "$new" "$XLLAMACPP" >&2
	engine=$root/engine
	mkdir -p "$engine" "$root/lib" "$dev"
	"$VENV/bin/python" -m zipfile -e "$new"/xllamacpp-*.whl "$engine"
	rm -rf "$new"/*.whl "$engine"/*.dist-info "$engine"/xllamacpp/*.py*

	# 1.2.4 is the oldest that has all it asks for; bookworm's is older.
	unpack "$dev" arm64 sid musl musl-dev
	lib=$dev/usr/lib/aarch64-linux-musl include=$dev/usr/include/aarch64-linux-musl
	cp "$lib/libc.so" "$root/lib/ld-musl-aarch64.so.1"

	# The library is a Python extension. None of Python is called on our way through it, but the
	# loader wants all of its symbols: zeroes with their names do.
	lib_so=$engine/xllamacpp/xllamacpp.abi3.so
	aarch64-linux-gnu-nm -D --undefined-only "$lib_so" |
		awk '$2 ~ /^_?Py/ { printf "char %s[256] __attribute__((aligned(16)));\n", $2 }' >"$new/python.c"
	aarch64-linux-gnu-gcc -O2 -fPIC -shared -nostdlib -Wl,-soname,libno-python.so -o "$engine/libno-python.so" "$new/python.c"
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	aarch64-linux-gnu-gcc -O2 -Wall -no-pie -mno-outline-atomics -nostdinc -isystem "$include" \
		-isystem "$(aarch64-linux-gnu-gcc -print-file-name=include)" -nostdlib -Wl,-dynamic-linker,/lib/ld-musl-aarch64.so.1 \
		-Wl,--allow-shlib-undefined -Wl,--no-as-needed '-Wl,-rpath,$ORIGIN:$ORIGIN/xllamacpp' -o "$engine/nodes" \
		"$lib/crt1.o" "$lib/crti.o" "$REPO/scripts/board/musl-nodes.c" "-L$engine" -lno-python \
		"-L$engine/xllamacpp" -l:xllamacpp.abi3.so "-L$lib" -l:libc.so "$(aarch64-linux-gnu-gcc -print-libgcc-file-name)" "$lib/crtn.o" >&2
	rm -rf "$dev" "$new/python.c"
	echo "$XLLAMACPP, from the Python package index" >"$new/VERSION"
}

need_musl() {
	part musl "scripts/board/musl.sh scripts/board/musl-nodes.c" part_musl ||
		{ note "the musl engine cannot be fetched"; return 1; }
}
