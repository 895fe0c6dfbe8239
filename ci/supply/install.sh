#!/usr/bin/env bash
# install.sh [NAME...]      install the commands of ci/supply.sh into the cache (default: cargo-deny and cargo-vet); some minutes the first time
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/supply/tools.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
[ $# -gt 0 ] || set -- cargo-deny cargo-vet
need_tool "$@"
