#!/usr/bin/env bash
# sbom.sh analyze|analyze-fleet|profinfer-agent FILE TARGET      print the CycloneDX list of all that is in FILE
#
# The parts depend on the target and the features of the build. Both are defined here.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
cd "$REPO"
# of build-agent.sh and build-analyze.sh; only files for Linux have it
musl=()
[ ! -f "$2.musl" ] || musl=(--musl "$(cat "$2.musl")")
case $1 in
analyze) exec python3 ci/release/sbom.py analyze "$2" "$3" '' analyze --npm host-analyzer/views/page/package-lock.json "${musl[@]}" ;;
analyze-fleet) exec python3 ci/release/sbom.py analyze-fleet "$2" "$3" '' profinfer-fleet --workspace fleet "${musl[@]}" ;;
profinfer-agent)
	src=$(cargo metadata --format-version 1 --locked | grep -o '[^"]*/libbpf-sys-[^/"]*/Cargo.toml' | head -n 1)
	exec python3 ci/release/sbom.py profinfer-agent "$2" "$3" bench,direct profinfer-agent --c "${src%/Cargo.toml}" "${musl[@]}"
	;;
*) die "no artefact '$1'" "analyze, analyze-fleet, profinfer-agent" ;;
esac
