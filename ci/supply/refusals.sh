#!/usr/bin/env bash
# refusals.sh      plant what ci/supply.sh must refuse, one at a time in a copy of the tree, and check the reason of each refusal
#
# A licence that is not allowed, a crate from a git repository, a second version of a crate, an
# unbounded range, a version that nobody vetted, an outdated lock file, an npm package with another
# licence, and one from another source. First, the unchanged tree must pass. Needs no network.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/supply/tools.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
need_tool cargo-deny cargo-vet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree failed=0

fresh() {
	rm -rf "$tree"
	mkdir -p "$tree"
	(cd "$REPO" && git ls-files -co --exclude-standard -z | tar --null -T - -c) | tar -C "$tree" -x
	cd "$tree"
}
# crate NAME VERSION LICENCE [FOLDER]: a library of our own making
crate() {
	local dir=${4:-$tree/planted}
	mkdir -p "$dir/src"
	printf '[package]\nname = "%s"\nversion = "%s"\nedition = "2024"\nlicense = "%s"\n' "$1" "$2" "$3" >"$dir/Cargo.toml"
	: >"$dir/src/lib.rs"
}
# needs LINE: the wire crate needs this too
needs() { sed -i "s|^\[dependencies\]|&\n$1|" wire/Cargo.toml; }
relock() { cargo metadata --format-version 1 >/dev/null 2>"$work/relock" || { cat "$work/relock" >&2; die "the planted tree cannot be locked"; }; }
# refused WHAT PATTERN: ci/supply.sh must fail, with a message that matches PATTERN
refused() {
	if PROFINFER_SUPPLY_ROOT=$tree "$REPO/ci/supply.sh" >"$work/log" 2>&1; then
		printf '%-22s NOT refused\n' "$1"
	elif grep -qE -- "$2" "$work/log"; then
		printf '%-22s refused: %s\n' "$1" "$(grep -m 1 -oE -- "$2.*" "$work/log" | cut -c1-90)"
		return
	else
		printf '%-22s refused, but not by "%s":\n' "$1" "$2"
		tail -n 20 "$work/log"
	fi
	failed=$((failed + 1))
}

fresh
PROFINFER_SUPPLY_ROOT=$tree "$REPO/ci/supply.sh" >"$work/log" 2>&1 || { cat "$work/log" >&2; die "the tree as it is does not pass"; }

fresh; crate planted 1.0.0 AGPL-3.0-only; needs 'planted = { path = "../planted" }'; relock
refused "a licence" 'AGPL-3.0'
fresh; crate planted 1.0.0 MIT "$work/git"
(cd "$work/git" && git init -q && git add . && git -c user.name=n -c user.email=e@x commit -qm planted)
needs "planted = { git = \"file://$work/git\" }"; relock
refused "a git repository" 'source-not-allowed'
fresh; crate memchr 1.0.0 MIT; needs 'planted = { path = "../planted", package = "memchr" }'; relock
refused "a second version" "found 2 duplicate entries for crate 'memchr'"
fresh; sed -i 's/^crc = .*/crc = "*"/' Cargo.toml; relock
refused "any version" 'wildcard dependency for crate|wildcard'
fresh; sed -i '/^\[\[exemptions.goblin\]\]/,/^$/s/^version = .*/version = "0.0.1"/' supply-chain/config.toml
refused "an unvetted version" 'goblin:[0-9.]+ missing'
fresh; sed -i 's/^crc = .*/crc = "=3.0.0"/' Cargo.toml
refused "another version" 'lock file .* needs to be updated|cannot update the lock file'
fresh; sed -i '/"node_modules\/uplot"/,/}/s/"license": "MIT"/"license": "AGPL-3.0-only"/' host-analyzer/views/page/package-lock.json
refused "an npm licence" 'uplot: licence AGPL-3.0-only'
fresh; sed -i '/"node_modules\/uplot"/,/}/s|"version"|"resolved": "https://example.org/uplot.tgz",\n      "version"|' host-analyzer/views/page/package-lock.json
refused "an npm package" 'uplot: comes from https://example.org'
fresh; sed -i 's/"uplot": "1/"uplot": "^1/' host-analyzer/views/page/package-lock.json
refused "an npm range" 'uplot: .* is a range'
echo "refusals: 9 planted, $failed not refused"
[ "$failed" = 0 ]
