#!/usr/bin/env bash
# standin.sh      compile the stand-ins for backends whose hardware is missing here, and print their folder
#
# libggml-opencl.so and libggml-rknn.so are for GGML_BACKEND_PATH, bin/clblast runs by itself, libdelay.so is for LD_PRELOAD; the source of
# each one states what is real about it. They are compiled for Debian's engine (scripts/engine.sh debian), with its own headers.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
engine=$("$REPO/scripts/engine.sh" debian)
engine=${engine%/bin}
lib=usr/lib/x86_64-linux-gnu
dir=$CACHE/standin
made=$(cat "$REPO"/ci/drivers/{standin.cpp,clblast.cpp,delay.c} "$0" "$engine/VERSION" | sha256sum | cut -c1-16)

build() {
	[ "$(cat "$dir/.made" 2>/dev/null)" != "$made" ] || return 0 # another run was faster
	have g++ || need_pkgs g++ libc6-dev
	say "stand-ins for backends"
	local new=$dir.new root=$engine/root backend l
	rm -rf "$new"
	mkdir -p "$new/bin" "$new/exe"
	for backend in opencl rknn; do
		g++ -std=c++17 -O2 -Wall -shared -fPIC -fvisibility=hidden "-D${backend^^}" "-I$root/usr/include" \
			"$REPO/ci/drivers/standin.cpp" -o "$new/libggml-$backend.so" -Wl,--allow-shlib-undefined \
			"$root/$lib/libggml-base.so" >&2 || die "ci/drivers/standin.cpp does not compile against Debian's engine"
	done
	g++ -std=c++17 -O2 -Wall "-I$root/usr/include" "$REPO/ci/drivers/clblast.cpp" -o "$new/clblast" -Wl,--allow-shlib-undefined \
		-Wl,--no-as-needed "$root/$lib/libggml.so" "$root/$lib/libggml-base.so" >&2 ||
		die "ci/drivers/clblast.cpp does not compile against Debian's engine"
	gcc -O2 -Wall -shared -fPIC "$REPO/ci/drivers/delay.c" -o "$new/libdelay.so" -ldl >&2 || die "ci/drivers/delay.c does not compile"
	# As the engine's own tools are started, see scripts/engine/debian.sh.
	for l in "$root/$lib"/ggml/backends0/*.so; do ln -s "$l" "$new/exe/"; done
	ln "$root/$lib/ld-linux-x86-64.so.2" "$new/exe/clblast"
	cat >"$new/bin/clblast" <<X
#!/bin/sh
exec '$dir/exe/clblast' --library-path '$root/$lib:$root/$lib/llama' '$dir/clblast' "\$@"
X
	chmod +x "$new/bin/clblast"
	echo "$made" >"$new/.made"
	rm -rf "$dir"
	mv "$new" "$dir"
}
[ "$(cat "$dir/.made" 2>/dev/null)" = "$made" ] || with_lock standin build
echo "$dir"
