#!/usr/bin/env bash
# signed.sh DIR KEY.pub      check a signed release as docs/release.md says: the right key and files pass, others do not
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
key=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1/SHA256SUMS" "$1/SHA256SUMS.sig" "$work/"
# checks ALLOWED FOLDER: what the document says
checks() {
	(cd "$2" && ssh-keygen -Y verify -f "$1" -I NAME -n profinfer-release -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" && sha256sum --quiet -c "$work/SHA256SUMS") >"$work/log" 2>&1
}
echo "NAME $(cat "$key")" >"$work/allowed"
ssh-keygen -q -t ed25519 -N '' -f "$work/other"
echo "NAME $(cat "$work/other.pub")" >"$work/strangers"
checks "$work/allowed" "$1" || { cat "$work/log" >&2; die "the signed release does not pass its own check"; }
! checks "$work/strangers" "$1" || die "a release passes with the key of somebody else"
sed -i '1s/^./x/' "$work/SHA256SUMS"
! checks "$work/allowed" "$1" || die "changed checksums pass"
cp "$1/SHA256SUMS" "$work/"
mkdir "$work/changed"
cp -l "$1"/* "$work/changed/" 2>/dev/null || cp "$1"/* "$work/changed/"
file=$(sed -n '1s/^[0-9a-f]*  //p' "$work/SHA256SUMS")
rm "$work/changed/$file"
echo changed >"$work/changed/$file"
! checks "$work/allowed" "$work/changed" || die "a changed file passes"
echo "signature: the key and the files of the release pass; another key, changed checksums and a changed file do not"
