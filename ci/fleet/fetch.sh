#!/usr/bin/env bash
# fetch.sh      bring in what ci/fleet/test.sh needs: Java, Spark, a server of S3
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/fleet/common.sh"
fleet_python
