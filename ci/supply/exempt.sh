#!/usr/bin/env bash
# exempt.sh      exempt every version in Cargo.lock or fleet/Cargo.lock that nobody vetted
#
# For changes of many crates at once. An exemption means "used, and not reviewed by us": look at the
# diff before you commit it. Needs no network.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/supply/tools.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
need_tool cargo-vet
cd "$REPO"
vet() { cargo vet --manifest-path "$1/Cargo.toml" --store-path supply-chain --locked --no-registry-suggestions "${@:2}"; }
missing() {
	{ vet "$1" --output-format json || true; } |
		python3 -c 'import json, sys
for f in json.load(sys.stdin).get("failures", []):
    for criteria in f["missing_criteria"]:
        print(f["name"], f["version"], criteria)'
}
{ missing . && missing fleet; } | sort -u |
	while read -r name version criteria; do
		say "exempted: $name $version ($criteria)"
		cargo vet add-exemption "$name" "$version" --criteria "$criteria" --no-suggest </dev/null
	done
for workspace in . fleet; do vet "$workspace"; done
