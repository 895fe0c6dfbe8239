#!/usr/bin/env python3
"""wheel.py OUT VERSION PLATFORM ANALYZE SBOM NOTICES AGENT...      pack analyze and the agents as a Python wheel in OUT; prints its path

A wheel of programs alone: no Python module is in it, and `pip` puts the files where they belong: `analyze` next to python, the
agents below lib/profinfer, where `analyze push` looks, and the documents below share/doc/profinfer. Tags of PLATFORM are separated by dots. The archive itself is made by
the package `wheel`.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).parents[2]
METADATA = """Metadata-Version: 2.4
Name: profinfer
Version: {version}
Summary: Where the time of a large language model goes on an embedded board, and what would make it faster
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY.md
Requires-Python: >=3.7
Description-Content-Type: text/markdown

`analyze` reads what `profinfer-agent` streams from a board that runs a large language model, and tells how
fast the engine is, why not faster, and what would help. The engine is not changed.

    analyze demo                     # a kept recording: no board, no root, no network
    analyze push ssh pi@BOARD        # the agent onto a board
    analyze --board rpi5 tcp:127.0.0.1:7817
"""
WHEEL = """Wheel-Version: 1.0
Generator: profinfer release
Root-Is-Purelib: false
"""


def tags(platform):
    """Lines of the file WHEEL."""
    return "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))


def put(source, target, mode):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def fill(root, version, platform, analyze, sbom, notices, agents):
    """The files of the wheel in the folder `root`."""
    info, data = root / f"profinfer-{version}.dist-info", root / f"profinfer-{version}.data"
    put(analyze, data / "scripts" / analyze.name, 0o755)
    for agent in agents:
        put(agent, data / "data/lib/profinfer/agents" / agent.name, 0o755)
    shutil.copytree(REPO / "docs", data / "data/share/doc/profinfer/docs")
    put(REPO / "LICENSE", info / "licenses/LICENSE", 0o644)
    put(notices, info / "licenses/THIRD-PARTY.md", 0o644)
    put(sbom, info / "sboms/analyze.cdx.json", 0o644)
    (info / "METADATA").write_text(METADATA.format(version=version))
    (info / "WHEEL").write_text(WHEEL + tags(platform))


def main():
    out, version, platform, analyze, sbom, notices, *agents = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "wheel"
        fill(root, version, platform, Path(analyze), Path(sbom), Path(notices), [Path(agent) for agent in agents])
        made = Path(folder) / "made"
        made.mkdir()
        subprocess.run([sys.executable, "-m", "wheel", "pack", root, "--dest-dir", made], check=True, stdout=subprocess.DEVNULL)
        (packed,) = made.iterdir()
        print(shutil.copy(packed, out))


if __name__ == "__main__":
    main()
