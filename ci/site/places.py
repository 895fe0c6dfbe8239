"""Which file of the repository becomes which page of the site. Pure functions of paths."""

import posixpath
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
#: Pages outside of docs/. The page of the README is the first page of the site.
OUTSIDE = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
#: Pages and files that the site's script makes (reference.py, site.sh). Nothing of them is in the repository.
MADE = {"docs/reference/analyze.md", "docs/reference/agent.md", "docs/reference/boards.md", "docs/sample/report.html"}


def page(path):
    """Place in the site of a file of the repository, or None if it is no part of the site."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/") and path != "docs/README.md":
        return path.removeprefix("docs/")
    return None


def target(source, link):
    """(path in the repository, anchor) of a relative link in the file `source`; None for addresses."""
    if ":" in link.split("/")[0]:
        return None
    path, _, anchor = link.partition("#")
    if not path:
        return source, anchor
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path)), anchor


def relative(source, destination):
    """A link from one page of the site to another."""
    return posixpath.relpath(destination, posixpath.dirname(source) or ".")


def sources(repo=REPO):
    """Markdown files whose links are checked, as paths in the repository."""
    docs = sorted(p.relative_to(repo).as_posix() for p in (repo / "docs").rglob("*.md"))
    return [*OUTSIDE, *docs]
