#!/usr/bin/env bash
# release.sh [--draft] [--sign KEY] [--out DIR]      make all files of a release in DIR (default: ./release), from this commit
#
#   --draft      accept uncommitted changes, an "unreleased" section of CHANGELOG.md, unreadable advisories, and a battery that is not whole
#   --sign KEY   sign the checksums with this ssh key (a private key file, or a public one whose private key is in an ssh agent)
#
# For Linux on x86-64 and arm64 and for Windows: analyze with both static agents, as a Python wheel, an archive and a Debian package. For
# macOS an archive, which nothing here can test. Besides the agents alone, analyze-fleet, man pages and completions, a CycloneDX list of
# parts for each program (packages have the licence notices of these parts), the section of CHANGELOG.md, SHA256SUMS and its signature. The version is the one in Cargo.toml; fleet/Cargo.toml has to have the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$REPO/ci/supply/tools.sh"
. "$REPO/ci/release/parts.sh"

draft='' key='' out=$PWD/release
while [ $# -gt 0 ]; do
	case $1 in
	--draft) draft=1; shift ;;
	--sign) key=${2:-}; shift 2 || die "--sign needs the file of an ssh key" ;;
	--out) out=${2:-}; shift 2 || die "--out needs a folder" ;;
	-h | --help) usage_from_head "$0"; exit ;;
	*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
out=$(realpath -m "$out")
cd "$REPO"
version=$(workspace_version)
grep -q "^version = \"$version\"$" fleet/Cargo.toml || die "fleet/Cargo.toml has another version than Cargo.toml, $version" "Write the same into both."
[ -z "$key" ] || [ -f "$key" ] || die "there is no key '$key'" "ssh-keygen -t ed25519 -f KEY makes one."
changes_of "$version" "$draft" >/dev/null
if [ -z "$draft" ] && [ -n "$(git status --porcelain)" ]; then
	die "there are changes that are not committed" "$(git status --short | head -n 5)" "Commit them, or try with --draft."
fi
battery=$(ci/causes.sh --whole) || [ -n "$draft" ] || die "the battery of planted causes was not run whole on these programs" "ci/causes.sh runs what is missing."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
need_pkgs dpkg-dev zip
need_tool cargo-deb
ensure_venv release
if [ -n "$draft" ]; then ci/supply.sh; else ci/supply.sh --advisories; fi

if [ -d "$out" ] && [ ! -f "$out/SHA256SUMS" ] && [ -n "$(ls -A "$out")" ]; then
	die "there are files in $out, and they are no release" "Name another folder with --out."
fi
rm -rf "$out"
mkdir -p "$out"
say "man pages and completions"
cargo build --locked --profile host --workspace --bins >&2
host=$CARGO_TARGET_DIR/host
"$host/profinfer-pages" "$pages"

say "agents"
mkdir "$agents"
for arch in aarch64 x86_64; do
	target=$arch-unknown-linux-musl agent=$agents/profinfer-agent-$arch name=profinfer-agent-$version-$arch-linux
	built=$(scripts/build-agent.sh --arch "$arch")
	cp "$built" "$agent"
	cp "$agent" "$out/$name"
	ci/release/sbom.sh profinfer-agent "$built" "$target" >"$out/$name.cdx.json"
	notices "$out/$name.cdx.json"
	stage release "$target" "$out/$name.cdx.json" profinfer-agent
	deb "$out" profinfer-agent --profile release --target "$target"
done

for target in x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-pc-windows-gnu aarch64-apple-darwin; do
	analyze=$(scripts/build-analyze.sh "$target")
	name=profinfer-$version-$(system_of "$target")
	ci/release/sbom.sh analyze "$analyze" "$target" >"$out/$name.cdx.json"
	say "$name"
	notices "$out/$name.cdx.json" "$out/profinfer-agent-$version-"*-linux.cdx.json
	archive "$out" "$name" "$analyze"
	case $target in *-apple-*) continue ;; esac
	"$VENV/bin/python" ci/release/wheel.py "$out" "$version" "$(wheel_platform "$target")" "$analyze" "$out/$name.cdx.json" "$work/THIRD-PARTY.md" "$agents"/* >&2
	case $target in *-linux-*) ;; *) continue ;; esac
	stage host "$target" "$out/$name.cdx.json" analyze
	deb "$out" analyze --profile host --target "$target"
done

target=$(uname -m)-unknown-linux-musl
fleet=$(scripts/build-analyze.sh --fleet "$target")
name=analyze-fleet-$version-$(system_of "$target")
cp "$fleet" "$out/$name"
ci/release/sbom.sh analyze-fleet "$fleet" "$target" >"$out/$name.cdx.json"
notices "$out/$name.cdx.json"
stage host "$target" "$out/$name.cdx.json" analyze-fleet
deb "$out" profinfer-fleet --profile host --target "$target" --manifest-path fleet/Cargo.toml
tar_of "$work" pages "$out/pages-$version.tar.gz"
changes_of "$version" "$draft" >"$out/CHANGES.md"
# Which planted causes this release finds, and how exactly
printf '%s\n' "$battery" >"$out/BATTERY.txt"
(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
if [ -n "$key" ]; then sign "$key" "$out/SHA256SUMS"; else note "not signed: --sign KEY"; fi
say "release $version${draft:+ (a draft)} of $(git rev-parse --short HEAD)"
cat "$out/SHA256SUMS"
echo "$out"
