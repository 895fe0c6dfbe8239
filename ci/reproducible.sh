#!/usr/bin/env bash
# reproducible.sh [--arch aarch64|x86_64]      build the static agent twice, and show that the bytes are the same
#
# Both builds start from nothing: in folders of different length, with other homes, caches and
# target folders, other file times, another time zone and language. The same are: this tree, the
# compiler with its sources of std, clang, and Debian's packages of the day. Takes some minutes;
# scripts/test.sh does not run it.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
"$REPO/scripts/setup.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
registry=${CARGO_HOME:-$HOME/.cargo}/registry

# build_in FOLDER TIME ZONE LANGUAGE ARGUMENT...: the agent's path
build_in() {
	local dir=$work/$1 time=$2 zone=$3 language=$4
	shift 4
	mkdir -p "$dir/tree" "$dir/home/.cargo" "$dir/cache"
	(cd "$REPO" && git ls-files -co --exclude-standard -z | tar --null -T - -c) | tar -C "$dir/tree" -x
	find "$dir/tree" -exec touch -d "$time" {} +
	cp -al "$registry" "$dir/home/.cargo/registry" 2>/dev/null || cp -a "$registry" "$dir/home/.cargo/registry"
	[ ! -d "$VENV" ] || ln -s "$VENV" "$dir/cache/venv"
	env -u CARGO_TARGET_DIR -u REPO -u CACHE HOME="$dir/home" USER="${dir##*/}" CARGO_HOME="$dir/home/.cargo" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
		PROFINFER_CACHE="$dir/cache" TZ="$zone" LC_ALL="$language" "$dir/tree/scripts/build-agent.sh" "$@"
}
first=$(build_in a "2001-02-03 04:05:06" UTC C "$@")
second=$(build_in a/folder/with/a/longer/name/b "2031-12-30 11:12:13" Pacific/Chatham C.UTF-8 "$@")
(cd "$work" && sha256sum "${first#"$work/"}" "${second#"$work/"}")
cmp "$first" "$second" || die "two builds of this tree differ" "'diffoscope' says where; paths that the compiler wrote: strings FILE | grep $work"
if strings -n 6 "$first" | grep -F -e "$work" -e "$HOME/" >&2; then die "the agent names folders of the machine that built it (see above)"; fi
echo "the same $(stat -c %s "$first") bytes twice"
