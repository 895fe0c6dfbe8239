# shellcheck shell=bash
# Emulated boards for the steps: a folder, boards by name, and cleanup. Sourced, after
# scripts/lib.sh and ci/tests.sh.

# board_args ARGUMENT...: parse --full, --keep DIR, --kernel K and names, for steps with several
# runs; sets full, keep, kernel, only
# shellcheck disable=SC2034  # for those who source this
full='' keep='' only=() kernel=(--kernel 5.10 --no-btf)
# shellcheck disable=SC2034
board_args() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) usage_from_head "$0"; exit ;;
		--full) full=1; shift ;;
		--keep) keep=${2:?--keep needs a folder}; shift 2 ;;
		--kernel) kernel=(--kernel "${2:?--kernel needs a version}"); shift 2 ;;
		-*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
		*) only+=("$1"); shift ;;
		esac
	done
}

# begin: `dir` for what a step makes, which goes at its end with the boards that it booted
begin() {
	dir=${keep:-$(mktemp -d)}
	mkdir -p "$dir"
	trap end EXIT
}
end() {
	if declare -F before_end >/dev/null; then before_end; fi
	[ -n "${PROFINFER_BOARDS:-}" ] || boards_down "step-$$"
	[ -n "$keep" ] || rm -rf "$dir"
}

# boards_down PREFIX: switches off every board whose name begins so
boards_down() {
	local run
	for run in "$CACHE/board/run/$1"-*/; do
		[ -d "$run" ] || continue
		"$REPO/scripts/board.sh" --board "$(basename "$run")" down >/dev/null 2>&1 || true
		rm -rf "$run"
	done
}

# Programs that follow the documents need 7817.
export BOARD_PORT=7900

# boot OPTIONS...: sets `board` to a board with these options of `board.sh up`. One that is up already is taken: scripts/test.sh
# lets boards live for several steps, and names them by PROFINFER_BOARDS.
boot() {
	local name log
	name=${PROFINFER_BOARDS:-step-$$}-$(sed 's/--kernel //; s|--serial [^ ]*|serial|; s/[^a-z0-9.]\+/-/g; s/^-//' <<<"$*")
	board="$REPO/scripts/board.sh --board $name"
	! $board run true 2>/dev/null </dev/null || return 0
	log=$dir/$name.up.log
	$board up "$@" 2>"$log" || { cat "$log" >&2; return 1; }
}

# The board of the last `boot`: not needed any more, or by this step not any more.
switch_off() { $board down 2>/dev/null; }
leave() { [ -n "${PROFINFER_BOARDS:-}" ] || switch_off; }
