"""sbom.py ARTEFACT FILE TARGET FEATURES PACKAGE [--workspace FOLDER] [--npm LOCKFILE] [--c LIBBPF_SYS] [--musl VERSION]

Prints the CycloneDX 1.5 list of all that is in FILE, the artefact of that name: the crates that `cargo tree` resolves for
exactly this package, target and set of features (the metadata of a workspace name more: it unites the features of all members),
the C libraries that are linked in, and the npm packages inside the page. No time and no random number: the same file gives the
same list.
"""

import argparse
import hashlib
import json
import re
import subprocess
import tomllib
import uuid


def cargo(*args):
    return subprocess.run(["cargo", *args], check=True, capture_output=True, text=True).stdout


def component(kind, name, version, licence, purl, sha256=None):
    out = {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if licence:
        # the old way to write "or" of crates.io
        out["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", licence)}]
    if sha256:
        out["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return out


def crates(workspace, package, target, features):
    """The crates that are linked in: component of each, and who needs whom."""
    chosen = ["--no-default-features", "--features", features] if features else []
    tree = cargo("tree", "--locked", "--manifest-path", f"{workspace}/Cargo.toml", "-p", package, "--target", target, *chosen, "-e", "normal,no-proc-macro",
                 "--prefix", "depth", "--no-dedupe", "-f", " {p}|{l}")
    with open(f"{workspace}/Cargo.lock", "rb") as f:
        sums = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.load(f)["package"]}
    found, needs, above = {}, {}, []
    for line in tree.splitlines():
        depth, name, version, licence = re.match(r"(\d+) (\S+) v([^ |]+)[^|]*\|(.*)", line).groups()
        purl = f"pkg:cargo/{name}@{version}"
        found[purl] = component("library", name, version, licence, purl, sums.get((name, version)))
        needs.setdefault(purl, set())
        del above[int(depth):]
        if above:
            needs[above[-1]].add(purl)
        above.append(purl)
    return found, needs, next(iter(needs))


def npm(lockfile):
    """The packages of the page that are no tools: the lockfile calls those `dev`."""
    with open(lockfile, encoding="utf-8") as f:
        packages = json.load(f)["packages"]
    for path, p in packages.items():
        if path and not p.get("dev"):
            name = path.removeprefix("node_modules/")
            purl = f"pkg:npm/{name.replace('@', '%40', 1)}@{p['version']}"
            yield component("library", name, p["version"], p["license"], purl)


def c_libraries(libbpf_sys):
    """What libbpf-sys carries as sources: their versions stand in these."""
    def first(path, pattern):
        with open(f"{libbpf_sys}/{path}", encoding="utf-8") as f:
            return re.search(pattern, f.read(), re.M).group(1)

    libbpf = re.search(r"\+v([\d.]+)$", libbpf_sys).group(1)
    elfutils = first("elfutils/configure.ac", r"AC_INIT\(\[elfutils\],\s*\[([\d.]+)\]")
    zlib = first("zlib/zlib.h", r'#define ZLIB_VERSION "([^"]+)"')
    yield component("library", "libbpf", libbpf, "LGPL-2.1-only OR BSD-2-Clause", f"pkg:generic/libbpf@{libbpf}")
    yield component("library", "libelf", elfutils, "GPL-2.0-or-later OR LGPL-3.0-or-later", f"pkg:generic/elfutils@{elfutils}")
    yield component("library", "zlib", zlib, "Zlib", f"pkg:generic/zlib@{zlib}")


def c_library(musl):
    """musl, which its project gives no file of a licence to that is linked here."""
    return component("library", "musl", musl, "MIT", f"pkg:generic/musl@{musl}") | {"copyright": "Copyright (c) 2005-2020 Rich Felker, et al."}


def main():
    parser = argparse.ArgumentParser()
    for name in ("artefact", "file", "target", "features", "package"):
        parser.add_argument(name)
    parser.add_argument("--workspace", default=".")
    parser.add_argument("--npm")
    parser.add_argument("--c")
    parser.add_argument("--musl")
    args = parser.parse_args()
    found, needs, root = crates(args.workspace, args.package, args.target, args.features)
    top = found.pop(root)
    rust = subprocess.run(["rustc", "-V"], check=True, capture_output=True, text=True).stdout.split()[1]
    extra = [component("library", "rust-std", rust, "MIT OR Apache-2.0", f"pkg:generic/rust-std@{rust}")]
    extra += list(npm(args.npm)) if args.npm else []
    extra += list(c_libraries(args.c)) if args.c else []
    extra += [c_library(args.musl)] if args.musl else []
    for e in extra:
        found[e["purl"]] = e
        needs[root].add(e["purl"])
    with open(args.file, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    top.update(type="application", name=args.artefact, hashes=[{"alg": "SHA-256", "content": digest}])
    print(json.dumps({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, args.artefact + digest)}",
        "version": 1,
        "metadata": {"component": top, "properties": [{"name": "cargo:target", "value": args.target}, {"name": "cargo:features", "value": args.features}]},
        "components": [found[k] for k in sorted(found)],
        "dependencies": [{"ref": k, "dependsOn": sorted(needs[k])} for k in sorted(needs)],
    }, indent=1))


main()
