#!/usr/bin/env python3
"""Checks links and anchors, without the network.

links.py             those of the Markdown files, as somebody meets them in the repository
links.py HTML-DIR    those of the built site; every page must also be reachable from the first one
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import markdown
import places


def of_sources(repo=places.REPO):
    """Complaints about the Markdown files."""
    texts = {source: (repo / source).read_text(encoding="utf-8") for source in places.sources(repo)}
    anchors = {source: markdown.anchors(text) for source, text in texts.items()}
    out = []
    for source, text in texts.items():
        for found in markdown.links(text):
            at = f"{source}:{text.count(chr(10), 0, found.start()) + 1}"
            to = places.target(source, found[3])
            if to is None:
                continue
            path, anchor = to
            if path in places.MADE:
                # Only the site has these pages, so nobody is sent there from elsewhere.
                if source not in ("docs/SUMMARY.md", "docs/index.md"):
                    out.append(f"{at}: {found[3]} is a page that only the site has")
            elif not (repo / path).exists():
                out.append(f"{at}: no file {path}")
            elif anchor and anchor not in anchors.get(path, {anchor}):
                out.append(f"{at}: no heading #{anchor} in {path}")
    named = {places.target("docs/SUMMARY.md", found[3])[0] for found in markdown.links(texts["docs/SUMMARY.md"])}
    for source in texts:
        if source not in named and source not in ("README.md", "docs/SUMMARY.md"):
            out.append(f"{source}: not in docs/SUMMARY.md")
    return out


class Page(HTMLParser):
    """Anchors and references of an HTML page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.references = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.references.append(value)


def of_site(folder):
    """Complaints about the built site."""
    folder = Path(folder).resolve()
    # The sample report checks itself (host-analyzer/views/tests/report), and builds its links when it is opened.
    files = [p for p in folder.rglob("*.html") if "sample" not in p.relative_to(folder).parts]
    pages = {p: Page(p.read_text(encoding="utf-8")) for p in files}
    out, reached = [], {folder / "index.html", folder / "404.html", folder / "toc.html"}
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for reference in page.references:
            if ":" in reference.split("/")[0] or reference.startswith("//"):
                continue
            name, _, anchor = unquote(reference).partition("#")
            to = (path.parent / name).resolve() if name else path
            to = to / "index.html" if to.is_dir() else to
            reached.add(to)
            if not to.is_file():
                out.append(f"{path.relative_to(folder)}: no {reference}")
            elif anchor and to in pages and anchor not in pages[to].ids:
                out.append(f"{path.relative_to(folder)}: no anchor {reference}")
    out += [f"{path.relative_to(folder)}: no page leads there" for path in sorted(set(pages) - reached)]
    return out


def main():
    wrong = of_site(sys.argv[1]) if len(sys.argv) > 1 else of_sources()
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
