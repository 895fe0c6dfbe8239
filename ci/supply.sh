#!/usr/bin/env bash
# supply.sh [--advisories]      dependencies of the project: licences, sources, duplicates, locked versions, audits, advisories
#
#   --advisories   fail where the advisories cannot be read (default: say that they are unknown)
#
# deny.toml and supply-chain/ state what is allowed; ci/supply/refusals.sh shows that everything
# else is refused. Only the advisories need a network once the tools are installed. They come from
# the RustSec repository, or from a clone of it that PROFINFER_ADVISORY_DB names.
# PROFINFER_SUPPLY_ROOT is another workspace to check.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/supply/tools.sh"
must_know=
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--advisories) must_know=1 ;;
'') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
cd "${PROFINFER_SUPPLY_ROOT:-$REPO}"
need_tool cargo-deny cargo-vet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=()

# check NAME COMMAND...: its output is shown where it fails
check() {
	local name=$1
	shift
	if "$@" >"$work/log" 2>&1; then printf '%-12s ok: %s\n' "$name" "$(grep -v '^[[:space:]]*$' "$work/log" | tail -n 1)"; return; fi
	cat "$work/log" >&2
	printf '%-12s REFUSED\n' "$name"
	failed+=("$name")
}
locked() {
	cargo metadata --locked --format-version 1 >"$work/metadata" || return 1
	local workspace
	for workspace in fleet fuzz; do
		cargo metadata --locked --manifest-path "$workspace/Cargo.toml" --format-version 1 >/dev/null || return 1
	done
	python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["packages"]), "crates, each of one version with its checksum")' "$work/metadata"
}
# The advisories, where they can be had. Exit status 3: they cannot.
advisories() {
	local db=${PROFINFER_ADVISORY_DB:-} known=$work/db/advisory-db-3157b0e258782691 # so cargo-deny calls the folder of RustSec's repository
	sed "s|^\[advisories\]|&\ndb-path = \"$work/db\"|" deny.toml >"$work/deny.toml"
	if [ -n "$db" ]; then
		git clone -q "$db" "$known" && git -C "$known" fetch -q || return 3
		# Print the date of its newest advisory, which may be old.
		sed -i 's|^\[advisories\]|&\nmaximum-db-staleness = "P9999D"|' "$work/deny.toml"
	else
		timeout 120 cargo deny --locked --config "$work/deny.toml" fetch db || return 3
	fi
	local workspace
	for workspace in . fleet; do
		cargo deny --manifest-path "$workspace/Cargo.toml" --locked --offline --config "$work/deny.toml" check advisories || return 1
	done
	[ -z "$db" ] || echo "advisories ok, as of $(git -C "$db" log -1 --format=%cs)"
}

check locked locked
for workspace in . fleet; do
	for what in licenses bans sources; do
		check "$what" cargo deny --manifest-path "$workspace/Cargo.toml" --config deny.toml --locked --offline check --hide-inclusion-graph "$what"
	done
	check vetted cargo vet --manifest-path "$workspace/Cargo.toml" --store-path supply-chain --locked --no-registry-suggestions
done
check npm python3 "$REPO/ci/supply/npm.py" host-analyzer/views/page/package-lock.json
status=0
advisories >"$work/log" 2>&1 || status=$?
case $status in
0) printf '%-12s ok: %s\n' advisories "$(tail -n 1 "$work/log")" ;;
3)
	printf '%-12s UNKNOWN: they cannot be fetched here (%s)\n' advisories "$(grep -iE 'error|resolve|failed' "$work/log" | tail -n 1 | tr -s ' ')"
	[ -z "$must_know" ] || failed+=(advisories)
	;;
*)
	cat "$work/log" >&2
	printf '%-12s REFUSED\n' advisories
	failed+=(advisories)
	;;
esac
[ ${#failed[@]} = 0 ] || die "refused: ${failed[*]}" "deny.toml and supply-chain/ state what is allowed; CONTRIBUTING.md explains how to add a dependency."
