# shellcheck shell=bash
# Builds of published versions (published.tsv). Sourced by ci/compat.sh, after scripts/lib.sh.

# published: every line of published.tsv, oldest first
published() { grep -v '^#' "$REPO/ci/compat/published.tsv"; }

# commit_of NAME
commit_of() { published | awk -F'\t' -v n="$1" '$1 == n { print $2 }'; }

# published_build NAME: builds `analyze` and the agent of that version, and prints the folder that they are in. They are kept in the cache, and
# share what they compile of other people's packages with the present version where the versions of these agree.
published_build() {
	local commit out
	commit=$(commit_of "$1")
	[ -n "$commit" ] || die "no version '$1' was given out" "Known: $(published | cut -f1 | tr '\n' ' ')"
	out=$CACHE/published/$commit
	[ -x "$out/profinfer-agent" ] || with_lock published build_commit "$commit" "$out" >&2 || return 1
	echo "$out"
}
build_commit() (
	git -C "$REPO" cat-file -e "$1^{commit}" 2>/dev/null ||
		die "this clone does not have the commit $1" "It was made without the history: git fetch --unshallow"
	say "analyze and agent of $(git -C "$REPO" log -1 --format=%cs "$1") (${1:0:7})"
	local from=$2.from
	rm -rf "$from" "$2.new"
	mkdir -p "$from" "$2.new"
	git -C "$REPO" archive "$1" | tar -C "$from" -x
	cd "$from" || exit 1
	# Cargo puts them where those of the present version are, which the steps after this one use: these are put back.
	local built=$CARGO_TARGET_DIR/debug present=$2.present name result=0
	rm -rf "$present"
	mkdir "$present"
	for name in analyze profinfer-agent; do [ ! -e "$built/$name" ] || cp -p "$built/$name" "$present/"; done
	cargo build -q --locked --workspace --bins >&2 || result=1
	[ "$result" != 0 ] || cp "$built/analyze" "$built/profinfer-agent" "$2.new/" || result=1
	for name in "$present"/*; do [ ! -e "$name" ] || mv -f "$name" "$built/"; done
	rmdir "$present"
	[ "$result" = 0 ] || exit 1
	rm -rf "$from"
	mv "$2.new" "$2"
)
