"""What the site needs of Markdown: links, headings and code blocks. Pure functions."""

import re

FENCE = re.compile(r"^( *)(```+|~~~+)(.*)$")
#: `[text](target)` and `![text](target)`; the text may contain a picture.
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\](?:\([^)]*\))?)*)\]\(<?([^)\s>]+)>?\)", re.S)
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")


def lines_outside_code(text):
    """(number from 1, line) of the lines that are in no code block."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if found and fence is None:
            fence = found[2]
        elif found and found[2].startswith(fence) and not found[3].strip():
            fence = None
        elif fence is None and not line.startswith("    "):
            yield number, line


def blocks(text):
    """(line number, comment above, language, content) of the fenced code blocks."""
    out, fence, above = [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if fence is None and found:
            fence, at, language, content = found[2], number, found[3].strip(), []
        elif fence is not None and found and found[2].startswith(fence) and not found[3].strip():
            out.append((at, above, language, "\n".join(content) + "\n"))
            fence, above = None, ""
        elif fence is not None:
            content.append(line)
        elif line.strip():
            above = line.strip()
    return out


def masked(text):
    """The text with all code replaced by spaces, so that every position stays."""
    kept = dict(lines_outside_code(text))
    lines = [kept.get(n, " " * len(line)) for n, line in enumerate(text.splitlines(), 1)]
    blank = lambda found: "`" + "·" * (len(found[0]) - 2) + "`" if "\n" not in found[0] else found[0]
    return re.sub(r"`[^`\n]+`", blank, "\n".join(lines))


def links(text):
    """Matches of LINK outside of code, with their positions in the text."""
    return list(LINK.finditer(masked(text)))


def slug(heading):
    """The anchor of a heading, as mdBook and GitHub form it."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    words = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return words.strip().replace(" ", "-")


def anchors(text):
    """All anchors of a page; a repeated heading gets a number."""
    out, seen = set(), {}
    for _, line in lines_outside_code(text):
        found = HEADING.match(line)
        if found:
            base = slug(found[1])
            n = seen.get(base, 0)
            seen[base] = n + 1
            out.add(f"{base}-{n}" if n else base)
        out.update(re.findall(r"<a id=\"([^\"]+)\"", line))
    return out
