#!/usr/bin/env bash
# release.sh [--draft] [--sign KEY] [--out DIR]      make all files of a release in DIR (default: ./release), from this commit
#
#   --draft      accept uncommitted changes, an "unreleased" section of CHANGELOG.md, and unreadable advisories
#   --debug      with --draft: use the analyze of the tests, which is fast if it is built already
#   --sign KEY   sign the checksums with this ssh key (a private key file, or a public one whose private key is in an ssh agent)
#
# Static agents for aarch64 and x86_64, analyze, analyze-fleet, man pages and completions, Debian packages, a CycloneDX list of parts for each
# program, the section of CHANGELOG.md, SHA256SUMS and its signature. The version is the one in Cargo.toml; fleet/Cargo.toml has to have the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/ci/supply/tools.sh"
. "$REPO/ci/release/parts.sh"

draft='' profile=host key='' out=$PWD/release
while [ $# -gt 0 ]; do
	case $1 in
	--draft) draft=1; shift ;;
	--debug) profile=dev; shift ;;
	--sign) key=${2:-}; shift 2 || die "--sign needs the file of an ssh key" ;;
	--out) out=${2:-}; shift 2 || die "--out needs a folder" ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
out=$(realpath -m "$out")
cd "$REPO"
[ "$profile" = host ] || [ -n "$draft" ] || die "--debug is for drafts" "Add --draft."
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
grep -q "^version = \"$version\"$" fleet/Cargo.toml || die "fleet/Cargo.toml has another version than Cargo.toml, $version" "Write the same into both."
[ -z "$key" ] || [ -f "$key" ] || die "there is no key '$key'" "ssh-keygen -t ed25519 -f KEY makes one."
changes_of "$version" "$draft" >/dev/null
if [ -z "$draft" ] && [ -n "$(git status --porcelain)" ]; then
	die "there are changes that are not committed" "$(git status --short | head -n 5)" "Commit them, or try with --draft."
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
need_pkgs dpkg-dev
need_tool cargo-deb
if [ -n "$draft" ]; then ci/supply.sh; else ci/supply.sh --advisories; fi

if [ -d "$out" ] && [ ! -f "$out/SHA256SUMS" ] && [ -n "$(ls -A "$out")" ]; then
	die "there are files in $out, and they are no release" "Name another folder with --out."
fi
rm -rf "$out"
mkdir -p "$out"
say "analyze, man pages and completions"
# Build the complete workspace: for a part of it, cargo would select other features of shared crates and compile them again.
cargo build --locked --profile "$profile" --workspace --bins >&2
cargo build --locked --profile "$profile" --manifest-path fleet/Cargo.toml >&2
host=$CARGO_TARGET_DIR/${profile/dev/debug}
rm -rf "$host/pages"
"$host/profinfer-pages" "$host/pages"
triple=$(rustc -vV | sed -n 's/^host: //p')
for program in analyze analyze-fleet; do
	name=$program-$version-${triple%%-*}-linux-gnu
	cp "$host/$program" "$out/$name"
	ci/release/sbom.sh "$program" "$host/$program" "$triple" >"$host/pages/$program.cdx.json"
	cp "$host/pages/$program.cdx.json" "$out/$name.cdx.json"
done
# `analyze push` takes the agents from there.
rm -rf "$host/agents"
mkdir "$host/agents"
for arch in aarch64 x86_64; do
	agent=$(scripts/build-agent.sh --arch "$arch")
	cp "$agent" "$host/agents/profinfer-agent-$arch"
done
deb "$out" analyze --profile "$profile"
deb "$out" profinfer-fleet --profile "$profile" --manifest-path fleet/Cargo.toml
tar -C "$host/pages" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -czf "$out/pages-$version.tar.gz" man completions
for arch in aarch64 x86_64; do
	agent=$host/agents/profinfer-agent-$arch
	target=$arch-unknown-linux-musl
	name=profinfer-agent-$version-$arch-linux
	cp "$agent" "$out/$name"
	# where cargo-deb looks for the program and its pages
	staged=$CARGO_TARGET_DIR/$target/release
	rm -rf "$staged/pages"
	cp -r "$host/pages" "$staged/pages"
	ci/release/sbom.sh profinfer-agent "$agent" "$target" >"$staged/pages/profinfer-agent.cdx.json"
	cp "$staged/pages/profinfer-agent.cdx.json" "$out/$name.cdx.json"
	deb "$out" profinfer-agent --profile release --target "$target"
done
changes_of "$version" "$draft" >"$out/CHANGES.md"
(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
if [ -n "$key" ]; then sign "$key" "$out/SHA256SUMS"; else note "not signed: --sign KEY"; fi
say "release $version${draft:+ (a draft)} of $(git rev-parse --short HEAD)"
cat "$out/SHA256SUMS"
echo "$out"
