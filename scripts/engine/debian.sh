# shellcheck shell=bash
# The recipe `debian`: Debian unstable's llama.cpp with the C library it was built for,
# unpacked into a folder of its own. Sourced by engine.sh.

# What the project was last checked with. If the archive has moved on, its present version is taken.
DEBIAN_LLAMA=0.7.0
DEBIAN_PACKAGES=(llama.cpp-tools llama.cpp-examples llama.cpp-tools-extra libllama0 libggml0
	libllama-dev libggml-dev libc6 libgcc-s1 libstdc++6 libgomp1 libssl3t64 libzstd1 zlib1g)

# Beyond these, for `debian+blas`.
DEBIAN_BLAS=(libggml0-backend-blas libopenblas0-pthread libgfortran5 libquadmath0)

# engine_debian_blas NEW FINAL: with GGML's BLAS backend, and OpenBLAS for it
engine_debian_blas() {
	DEBIAN_PACKAGES+=("${DEBIAN_BLAS[@]}")
	engine_debian "$@"
	local lib=$1/root/usr/lib/x86_64-linux-gnu l
	# What the alternatives system would do.
	for l in libblas.so.3 liblapack.so.3 libopenblas.so.0; do ln -sf "openblas-pthread/$l" "$lib/$l"; done
}

# engine_debian_rpc NEW FINAL: with GGML's RPC backend, whose server (ggml-rpc-server) computes for another process
engine_debian_rpc() {
	local new=$1 final=$2 root=$1/root lib=usr/lib/x86_64-linux-gnu
	DEBIAN_PACKAGES+=(libggml0-backend-rpc)
	engine_debian "$@"
	cp "$root"/usr/libexec/x86_64-linux-gnu/llama/bin/ggml-rpc-server "$root/usr/bin/"
	start_through_loader ggml-rpc-server
}

# engine_debian NEW FINAL: fills NEW, which will be moved to FINAL
engine_debian() {
	local new=$1 final=$2 root=$1/root l deb lib version
	say "llama.cpp of Debian unstable"
	apt_suite sid
	mkdir -p "$new/debs" "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin"
	(cd "$new/debs" && apt-get "${APT[@]}" download "${DEBIAN_PACKAGES[@]}" >&2) ||
		die "Debian unstable does not have all of: ${DEBIAN_PACKAGES[*]}" "Try another engine: scripts/engine.sh npm:v0.5.0"
	version=$(dpkg-deb -f "$new"/debs/llama.cpp-tools_*.deb Version)
	version=${version#*:}
	case $version in "$DEBIAN_LLAMA"[-+]*) ;; *)
		note "Debian has llama.cpp $version now, instead of the $DEBIAN_LLAMA this project was last checked with" ;;
	esac
	for l in lib lib64 bin; do ln -s "usr/$l" "$root/$l"; done
	for deb in "$new"/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done
	rm -rf "$new/debs"
	echo "$version, from Debian" >"$new/VERSION"

	# How the tools run here. Each is started through the loader that came with it, under a hard
	# link that carries the tool's name: the process is then called llama-bench, not ld-linux.
	# llama.cpp looks for its CPU variants next to the running program, which is that link: so
	# links to all variants lie there too, and the engine chooses the best by itself as ever.
	lib=usr/lib/x86_64-linux-gnu
	mkdir "$new/exe"
	for l in "$root/$lib"/ggml/backends0/*.so; do ln -s "../root/$lib/ggml/backends0/${l##*/}" "$new/exe/"; done
	for l in "$root"/usr/bin/llama-*; do
		start_through_loader "${l##*/}"
	done

	# Our own driver, against the same libraries.
	build_nodes "$root/usr/bin/nodes" "$root/usr/include" -Wl,--no-as-needed "$root/$lib"/libllama.so "$root/$lib"/libggml.so "$root/$lib"/libggml-base.so
	start_through_loader nodes
	[ -e "$new/bin/llama-eval-callback" ] || die "Debian's llama.cpp $version has no llama-eval-callback" \
		"The tests compare with its word; pin another version in scripts/engine/debian.sh."
}

# start_through_loader TOOL, within engine_debian or engine_debian_rpc
start_through_loader() {
	ln "$root/$lib/ld-linux-x86-64.so.2" "$new/exe/$1"
	cat >"$new/bin/$1" <<X
#!/bin/sh
exec '$final/exe/$1' --library-path '$final/root/$lib:$final/root/$lib/llama' '$final/root/usr/bin/$1' "\$@"
X
	chmod +x "$new/bin/$1"
}
