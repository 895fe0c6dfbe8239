#!/usr/bin/env bash
# site.sh [--links | --shots | --studies]      build the documents as a site and check it
#
#   (no option)  build the site in ~/.cache/profinfer/site/html, and check: links and anchors, the case studies against their
#                data and against a battery of this commit, the commands of Start, of the cookbook and of the pages for
#                programs that can run here, and in Chromium the search and the sample report
#   --links      only what needs neither mdBook nor a build: links and anchors of the Markdown files, the case studies,
#                the tests of these scripts (2 s; part of scripts/test.sh)
#   --shots      make the pictures of docs/ again, from the kept recordings
#   --studies    make the case studies again, with their pictures, from the results and recordings of the battery
#                (ci/causes.sh)
#
# mdBook is built once into the cache. Nothing is fetched by the checks.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
MDBOOK=0.5.4
data=$REPO/host-analyzer/tests/data
site=$CACHE/site
cd "$REPO"

sources() {
	python3 -B ci/site/links.py && python3 -B ci/site/commands.py && python3 -B ci/site/studies/write.py --check &&
		python3 -B ci/site/studies/check.py "$CACHE/causes" &&
		(cd ci/site && python3 -B -m unittest discover -q -t . -s tests)
}
mdbook() {
	local program=$CACHE/tools/bin/mdbook
	if ! [ -x "$program" ] || [ "$("$program" --version)" != "mdbook v$MDBOOK" ]; then
		say "mdBook $MDBOOK (once)"
		cargo install -q --locked --root "$CACHE/tools" --no-default-features --features search --version "=$MDBOOK" mdbook >&2 ||
			die "cargo could not install mdBook" "Is the package registry of Rust reachable from here?"
	fi
	"$program" "$@"
}
# report NAME DIR: the report of a kept recording
report() {
	PROFINFER_CEILINGS='' "$ANALYZE" "$data/$1.pfi" --out "$2" --only report.html >/dev/null
}
shots() {
	reports
	report sample "$dir/sample"
	report board "$dir/board"
	pictures ci/site/shots.json
}
# Takes the results into the data of the studies, and writes their pages.
studies() {
	local causes=$CACHE/causes
	reports
	CACHE=$CACHE PROFINFER_ANALYZE=$ANALYZE python3 -B ci/site/studies/collect.py "$causes" "$dir"
	pictures "$dir/shots.json"
	python3 -B ci/site/studies/write.py
}
# A folder of reports, $dir, that goes with this process
reports() {
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
}
# pictures LIST: of the reports in $dir, in docs/. At most 150 kB: text needs few colours.
pictures() {
	local picture
	need_pkgs pngquant
	mkdir -p "$dir/out/understand" "$dir/out/cases" docs/understand docs/cases
	node ci/site/shots.mjs "$1" "$dir" "$dir/out"
	(cd "$dir/out" && find . -name '*.png') | while read -r picture; do
		pngquant --force --speed 1 --output "docs/$picture" 32 "$dir/out/$picture"
		[ "$(stat -c %s "docs/$picture")" -le 150000 ] || die "docs/$picture is larger than 150 kB" "Show less of the page: ci/site/shots.json"
	done
}
# The commands of the pages, with the programs and an engine where the pages expect them.
commands() {
	local path=$site/path engine
	! cannot_trace "commands of the pages" || return 0
	engine=${PROFINFER_ENGINE_DIR:-$(scripts/engine.sh)}
	rm -rf "$path"
	mkdir -p "$path"
	# As an archive of a release has them: the agents next to the program, and not in PATH.
	ln "$ANALYZE" "$path/analyze" 2>/dev/null || cp "$ANALYZE" "$path/analyze"
	mkdir "$path/agents"
	cp "${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent}" "$path/agents/profinfer-agent-$(uname -m)"
	ln -s "$engine"/llama-* "$path/"
	mkdir "$path/agent"
	ln -s "${PROFINFER_AGENT:-$CARGO_TARGET_DIR/debug/profinfer-agent}" "$path/agent/profinfer-agent"
	# In a container, where one is root already
	ensure_venv notebook
	have sudo || { printf '#!/bin/sh\nexec "$@"\n' >"$path/sudo" && chmod +x "$path/sudo"; }
	PROFINFER_CEILINGS='' MODEL=$(scripts/model.sh smollm2) MODEL_WITH_EXPERTS=$(scripts/model.sh moe-qwen60) AGENT=$path/agent \
		PROFINFER_PYTHON=$VENV/bin/python PATH=$path:$PATH python3 -B ci/site/commands.py --run
}

case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
--links) sources; exit ;;
--shots | --studies | '') ;;
*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
esac
if [ -n "${PROFINFER_ANALYZE:-}" ]; then ANALYZE=$PROFINFER_ANALYZE; else tests_build; fi
case ${1:-} in
--shots) shots; exit ;;
--studies) studies; exit ;;
esac

failed=0
check() {
	local name=$1
	shift
	if "$@"; then printf '%-34s ok\n' "$name"; else
		printf '%-34s FAILED\n' "$name"
		failed=1
	fi
}
check "links, case studies" sources
check "source of the book" python3 -B ci/site/stage.py "$site"
report sample "$site/src/sample"
rm -rf "$site/html"
check "mdBook" mdbook build "$site"
check "links of the site" python3 -B ci/site/links.py "$site/html"
check "commands of the pages" commands
check "search and sample in Chromium" node ci/site/search.mjs "$site/html"
echo "the site: $site/html/index.html ($(du -sh "$site/html" | cut -f 1))"
[ "$failed" = 0 ]
