#!/usr/bin/env bash
# test.sh      what no cargo test can do of fleets: a bucket of a real server of S3's protocol, and a real cluster of Spark
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
"$REPO/ci/fleet/s3.sh"
"$REPO/ci/fleet/spark.sh"
