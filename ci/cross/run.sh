#!/usr/bin/env bash
# run.sh [--no-boards]      `cross build --target aarch64-unknown-linux-musl` in a clean copy of this tree, by podman
#
#   --no-boards   without the emulated boards
#
# Builds with and without --release, on an image of Debian's packages (base.sh) under the name of the one that cross would pull, and with
# a copy of the toolchain that has the target's std (toolchain.sh). Checks that the programs are static, that the agent of a release
# has at most 2.5 MB and the options of the one of scripts/build-agent.sh, that `analyze` reads a recording, and that the agents trace
# on emulated boards (the release: ci/board/matrix.sh). Needs root. The images are kept by podman.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/cross/podman.sh"
. "$REPO/ci/supply/tools.sh"
boards=1
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--no-boards) boards= ;;
'') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
cd "$REPO"
target=aarch64-unknown-linux-musl
MOST=2500000 # bytes of the agent
need_podman
need_pkgs qemu-user-static file
need_tool cross
base=$(ci/cross/base.sh)
toolchains=$(ci/cross/toolchain.sh)
# An image of another name would be overwritten by what cross makes of it.
podman tag "$base" "ghcr.io/cross-rs/$target:$(tool_version cross)"

tree=$CACHE/cross/tree
clean_copy() {
	rm -rf "$tree"
	mkdir -p "$tree"
	git ls-files -co --exclude-standard -z | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done |
		tar --null -T - -c | tar -C "$tree" -x
}
stop_building() {
	podman ps --format '{{.ID}} {{.Image}}' | sed -n 's| localhost/cross-custom-tree:.*||p' | xargs -r podman kill >/dev/null 2>&1 || true
}
# As in a new shell of a person who has rustup and cross
cross_build() {
	local start=$SECONDS
	say "cross build $*"
	# Ended by a signal, it leaves no container that goes on compiling.
	trap 'stop_building; exit 143' TERM INT
	(cd "$tree" && env -u CARGO_TARGET_DIR -u RUSTFLAGS -u REPO -u CACHE RUSTUP_HOME="$toolchains" cross build "$@" >&2) || die "'cross build $*' failed"
	echo "cross build $*: $((SECONDS - start)) s"
}
clean_copy
cross_build --target $target
cross_build --target $target --release
built=$tree/target/$target
own=$(scripts/build-agent.sh)

failed=0
# hold WHAT CONDITION...
hold() {
	local what=$1
	shift
	if "$@"; then echo "$what: ok"; else echo "$what: FAILED"; failed=$((failed + 1)); fi
}
static() { file -b "$1" | grep -q 'ARM aarch64.*\(statically\|static-pie\) linked'; }
# What the agent prints about itself, run by QEMU's emulation of processes
words_of() {
	local command
	for command in --version --help "serve --help" "record --help" "engine --help" "doctor --help"; do
		# shellcheck disable=SC2086  # several words
		qemu-aarch64-static "$1" $command
	done
}
same_words() { cmp <(words_of "$own") <(words_of "$1"); }
reads_recording() {
	local out=$tree/target/profile
	rm -rf "$out"
	qemu-aarch64-static "$1" host-analyzer/tests/data/demo.pfi -o "$out" >/dev/null && [ -s "$out/report.html" ] && [ -s "$out/summary.json" ]
}
# A short trace of an engine on one board
traces() {
	local board=(scripts/board.sh --board "cross-$$") result=0
	{ "${board[@]}" up --kernel 7.2 --agent "$1" &&
		"${board[@]}" run "profinfer-agent record --full --out /tmp/t.pfi -- nodes -m /model.gguf -t 2 -p 8 -n 4 >/dev/null && test -s /tmp/t.pfi"; } >&2 || result=1
	"${board[@]}" down 2>/dev/null || true
	return "$result"
}
for profile in debug release; do
	for program in profinfer-agent analyze; do
		hold "$profile: $program is one static file of $(stat -c %s "$built/$profile/$program") bytes" static "$built/$profile/$program"
	done
	hold "$profile: the agent has the version and options of scripts/build-agent.sh" same_words "$built/$profile/profinfer-agent"
	hold "$profile: analyze reads a recording" reads_recording "$built/$profile/analyze"
done
size=$(stat -c %s "$built/release/profinfer-agent")
hold "the agent has at most $MOST bytes (with the std of scripts/build-agent.sh: $(stat -c %s "$own"))" [ "$size" -le $MOST ]
if [ -n "$boards" ]; then
	hold "debug: traces on an emulated board" traces "$built/debug/profinfer-agent"
	hold "release: traces on the emulated boards" env PROFINFER_STATIC_AGENT="$built/release/profinfer-agent" ci/board/matrix.sh
fi
echo "cross: $failed failed"
[ "$failed" = 0 ]
