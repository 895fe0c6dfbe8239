#!/usr/bin/env bash
# test.sh      everything about fleets, which are a separate workspace: format, lints, tests, a bucket of a real server of the S3 protocol, and a
#              real cluster of Spark
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
. "$REPO/ci/tests.sh"
. "$REPO/ci/fleet/common.sh"
cargo fmt --manifest-path "$REPO/fleet/Cargo.toml" --check
fleet_programs
linting_cargo test -q --locked --manifest-path "$REPO/fleet/Cargo.toml" --all-targets
"$REPO/ci/fleet/s3.sh"
"$REPO/ci/fleet/spark.sh"
