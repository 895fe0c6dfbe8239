#!/usr/bin/env bash
# s3.sh      a fleet in a bucket: the tests of fleet/tests/fleet/s3.rs with a real S3 server (moto) on loopback
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/fleet/common.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
fleet_programs
fleet_python
dir=$(mktemp -d)
"$PYTHON" -m moto.server --host 127.0.0.1 --port 0 >"$dir/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$dir"' EXIT
url=
for ((i = 0; i < 300; i++)); do
	url=$(sed -n 's/.*Running on \(http:[^ ]*\).*/\1/p' "$dir/log" | head -n 1)
	[ -z "$url" ] || break
	sleep 0.1
done
[ -n "$url" ] || die "the server of S3 did not start" "$(tail -n 3 "$dir/log")"
export AWS_ENDPOINT_URL=$url AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1
"$PYTHON" - <<-'EOF'
	import os
	import boto3
	boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1").create_bucket(Bucket="fleet")
EOF
linting_cargo test -q --locked --manifest-path "$REPO/fleet/Cargo.toml" --test fleet -- --ignored --exact s3::a_bucket_is_as_a_folder
