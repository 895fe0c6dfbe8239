"""notices.py LIST...      print the licence notices of all parts that these CycloneDX lists name (ci/release/sbom.py)

Of several licences that a part may be used under, one is chosen, so that the text of most of them stands here once. Texts are those
that the parts carry in their sources. A crate without one gets the text that most others of its licence have, under its authors' names.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

REPO = Path(__file__).parents[2]
#: The first that a part permits is chosen.
PREFERRED = ("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "LGPL-3.0-or-later")
#: Licences that ask for no notice.
NO_NOTICE = ("0BSD",)
#: Of a C library: the files of its licence, in the sources of libbpf-sys.
OF_C = {
    "libbpf": ["libbpf/LICENSE.BSD-2-Clause"],
    # The text of the LGPL 3 adds to that of the GPL 3.
    "libelf": ["elfutils/COPYING-LGPLV3", "elfutils/COPYING"],
    "zlib": ["zlib/LICENSE"],
}
FILE = re.compile(r"(?i)(licen[sc]e|copying|copyright|unlicense)")


def packages():
    """Packages of both workspaces by package URL, as `cargo metadata` describes them."""
    found = {}
    for manifest in ("Cargo.toml", "fleet/Cargo.toml"):
        out = subprocess.run(["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", REPO / manifest],
                             check=True, capture_output=True, text=True).stdout
        found |= {f"pkg:cargo/{one['name']}@{one['version']}": one for one in json.loads(out)["packages"]}
    return found


def chosen(expression):
    """The licence that a part is used under; the whole expression where one is not enough."""
    if " AND " in expression:
        return expression
    options = expression.split(" OR ")
    return next((one for one in PREFERRED if one in options), options[0])


def files(package):
    """The licence files of a crate, by name."""
    folder = Path(package["manifest_path"]).parent
    return {path.name: path.read_text(errors="replace").strip() for path in sorted(folder.iterdir()) if path.is_file() and FILE.match(path.name)}


def texts(licence, of_package):
    """Those of its files that hold the licence: where there are several, the ones that are named after it."""
    word = licence.split("-")[0].lower()
    named = [text for name, text in of_package.items() if word in name.lower()]
    return named if named and " AND " not in licence else list(of_package.values())


def body(text):
    """A licence text without the lines that name the holder or the licence."""
    names = ("copyright ", "copyright(", "(c) ", "the mit", "mit license")
    return "\n".join(line for line in text.splitlines() if not line.strip().lower().startswith(names)).strip()


def usual(licence, known):
    """The text that most parts of a licence have, without holders."""
    bodies = Counter(body(text) for of, text in known if of == licence)
    if not bodies:
        sys.exit(f"no part has a text of the licence {licence}")
    return bodies.most_common(1)[0][0]


def notices(parts, crates):
    """By text: the parts that it is the licence of. `parts`: components by package URL."""
    apache, found, without, known = (REPO / "LICENSE").read_text().strip(), {}, [], []
    sources = next((Path(one["manifest_path"]).parent for one in crates.values() if one["name"] == "libbpf-sys"), None)
    for purl, part in sorted(parts.items()):
        licence, package = chosen(part["licenses"][0]["expression"]), crates.get(purl)
        own = texts(licence, files(package)) if package else [(sources / path).read_text().strip() for path in OF_C.get(part["name"], [])]
        if licence in NO_NOTICE:
            continue
        if licence == "Apache-2.0":
            folder = Path(package["manifest_path"]).parent if package else None
            extra = [path.read_text(errors="replace").strip() for path in sorted(folder.glob("NOTICE*"))] if folder else []
            own = [apache, *extra]
        elif not own:
            without.append((purl, part, licence, package))
            continue
        known += [(licence, text) for text in own]
        for text in own:
            found.setdefault(text, []).append(f"{part['name']} {part['version']} ({licence})")
    for _, part, licence, package in without:
        holder = part.get("copyright") or "Copyright (c) " + ", ".join(package["authors"] if package and package["authors"] else [f"the authors of {part['name']}"])
        found.setdefault(f"{holder}\n\n{usual(licence, known)}", []).append(f"{part['name']} {part['version']} ({licence})")
    return found


def main():
    lists = [json.loads(Path(path).read_text()) for path in sys.argv[1:]]
    crates = packages()
    own = {purl for purl, one in crates.items() if one["source"] is None}
    parts = {one["purl"]: one for listed in lists for one in listed["components"] if one["purl"] not in own}
    npm = [purl for purl in parts if purl.startswith("pkg:npm/")]
    print("# Third-party parts\n\nParts of others in these programs, and their licences. The lists of parts (*.cdx.json) name the version and the\n"
          "licence of each. Sources: crates and npm packages by their registries; libbpf, libelf and zlib in the crate\n"
          "`libbpf-sys`; musl and Rust's standard library by their projects.\n")
    if any(one["name"] == "libelf" for one in parts.values()):
        print("`profinfer-agent` is linked with libelf, which is used under the LGPL 3 or later. To link it with a changed libelf,\n"
              "change `elfutils` in the crate's sources and run `scripts/build-agent.sh` of ProfInfer's sources.\n")
    for text, of in sorted(notices({purl: one for purl, one in parts.items() if purl not in npm}, crates).items(), key=lambda row: row[1][0]):
        fence = "````" if "```" in text else "```"
        print(f"## {', '.join(sorted(set(of)))}\n\n{fence}text\n{text}\n{fence}\n")
    if npm:
        print((REPO / "host-analyzer/views/page/dist/THIRD-PARTY.md").read_text().replace("# Libraries", "## Libraries", 1).strip())


if __name__ == "__main__":
    main()
