#!/usr/bin/env bash
# fetch.sh      fetch what ci/fleet/test.sh needs: Java, Spark, an S3 server
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/fleet/common.sh"
fleet_python
