#!/usr/bin/env python3
"""stage.py OUT      writes the source of the book into OUT/src: the pages of the repository, with links that lead to pages of the site, and made pages

A link to a file that is no page (a source file, for example) becomes its text: the site does not have the file.
"""

import shutil
import sys
from pathlib import Path

import commands
import markdown
import places
import reference


def rewritten(source, text, complain):
    """The text of a page with the links of the site."""
    here, out, end = places.page(source), [], 0
    for found in markdown.links(text):
        to = places.target(source, found[3])
        if to is None:
            continue
        path, anchor = to
        page = places.page(path)
        words = text[found.start(2):found.end(2)]
        out.append(text[end:found.start()])
        end = found.end()
        if page is None:
            out.append(words)
        else:
            link = places.relative(here, page) + (f"#{anchor}" if anchor else "")
            out.append(f"{found[1]}[{words}]({link})")
        if page is None and found[1]:
            complain(f"{source}: the picture {path} is outside of docs/")
    return "".join([*out, text[end:]])


def main():
    out, wrong = Path(sys.argv[1]), []
    src = out / "src"
    shutil.rmtree(src, ignore_errors=True)
    src.mkdir(parents=True)
    shutil.copy(Path(__file__).parent / "book.toml", out / "book.toml")
    for source in places.sources():
        if source == "README.md":
            continue
        text = (places.REPO / source).read_text(encoding="utf-8")
        to = src / places.page(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(rewritten(source, commands.with_notes(text), wrong.append), encoding="utf-8")
    for picture in (places.REPO / "docs").rglob("*.png"):
        to = src / picture.relative_to(places.REPO / "docs")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, to)
    for page, text in reference.pages(places.REPO).items():
        to = src / page
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
