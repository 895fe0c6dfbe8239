"""Programs and files of the battery: engines, models, planted programs, agent and analyzer."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

from pool import Pool

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
#: Kinds of memory that consist of huge pages.
HUGE = ("huge_pages", "huge_file")


def bash(script, *args):
    """Last line of what a script of this repository prints."""
    done = subprocess.run(["bash", "-euc", script, "bash", *args], cwd=REPO, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip().splitlines()[-1]


class Tools:
    """`folder` receives the compiled programs."""

    repo = REPO

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Made for the first engine that uses it.
        self.pool = None
        self.agent, self.analyze = os.environ["PROFINFER_AGENT"], os.environ["PROFINFER_ANALYZE"]
        for source in (HERE / "programs").glob("*.c"):
            library = source.stem == "handover"
            out = self.folder / (f"lib{source.stem}.so" if library else source.stem)
            options = ["-shared", "-fPIC", "-lpthread", "-ldl"] if library else []
            subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", out, source, *options], check=True)

    @functools.cache
    def static(self, name, arch):
        """A planted program for a board, which has no C library of ours."""
        out = self.folder / f"{name}-{arch}"
        compiler = "cc" if os.uname().machine == arch else f"{arch}-linux-gnu-gcc"
        subprocess.run([compiler, "-O2", "-static", "-o", out, HERE / "programs" / f"{name}.c"], check=True)
        return str(out)

    def program(self, name):
        return str(self.folder / name)

    @functools.cache
    def build(self, name):
        """Folder of the launchers of an engine."""
        if name.endswith("/old"):
            variant = "sse42" if os.uname().machine == "x86_64" else "armv8.0_1"
            engine = self.build(name.removesuffix("/old")).removesuffix("/bin")
            return bash('. scripts/lib.sh; . ci/variant_folder.sh; variant_folder "$1" "$2"', variant, engine)
        folder = bash('scripts/engine.sh "$1"', name)
        # A start of an engine whose own files are not in the page cache is a cold start; only some cases plant one.
        for file in filter(Path.is_file, Path(folder).parent.rglob("*")):
            file.read_bytes()
        return folder

    @functools.cache
    def model(self, name):
        """A model of scripts/model.sh, or arch/NAME of scripts/gen_archs.py."""
        if name.startswith("arch/"):
            return bash(
                '. scripts/lib.sh; . ci/tests.sh; ensure_venv tools; generated "$ARCHS" "$(archs_hash)" "$1" scripts/gen_archs.py >&2; echo "$ARCHS/$1.gguf"',
                name.removeprefix("arch/"),
            )
        return bash('scripts/model.sh "$1"', name)

    @functools.cache
    def in_huge_pages(self, name):
        """A copy of a model whose page cache consists of huge pages."""
        folder = self.folder / "huge"
        if not os.path.ismount(folder):
            folder.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "huge=always", "tmpfs", folder], check=True)
        return shutil.copy(self.model(name), folder / f"{name.replace('/', '-')}.gguf")

    def file(self, setup):
        """The model of a setup, where its engine reads it."""
        return (self.in_huge_pages if setup["memory"] == "huge_file" else self.model)(setup["model"])

    def close(self):
        if self.pool:
            self.pool.close()
        if os.path.ismount(self.folder / "huge"):
            subprocess.run(["umount", self.folder / "huge"], check=True)

    @functools.cache
    def large_file(self):
        """A file of 256 MB that nothing else reads."""
        path = self.folder / "large"
        if not path.exists():
            subprocess.run(["dd", "if=/dev/urandom", f"of={path}", "bs=1M", "count=256", "status=none"], check=True)
        return str(path)

    def allocation(self, setup):
        """Words before the command, which let the C library take huge pages of the pool, or ask for others where there is none."""
        if setup["memory"] not in HUGE:
            return []
        self.pool = self.pool or Pool()
        return ["env", f"GLIBC_TUNABLES=glibc.malloc.hugetlb={2 if self.pool.size else 1}"]

    def command(self, setup):
        """The engine's command."""
        tool = f"{self.build(setup['build'])}/{setup['tool']}"
        words = [tool, "-m", self.file(setup), "-t", str(setup["threads"])]
        if setup["memory"] == "huge_pages":
            words += ["--no-mmap"] if setup["tool"] == "nodes" else ["--load-mode", "none"]
        if setup["tool"] == "llama-server":
            return [*words, "-np", str(setup["requests"].get("clients", 1)), "-c", "2048", *setup["args"]]
        words += ["-n", str(setup["tokens"])]
        if setup["tool"] == "nodes":
            return [*words, "-p", str(setup["prompt"]), *setup["args"]]
        words += ["-p", "word " * setup["prompt"], "--temp", "0"]
        if setup["draft"]:
            words += ["-md", self.model(setup["draft"])]
        if setup["tool"] == "llama-completion":
            words += ["-no-cnv", "--ignore-eos"]
        if "-c" not in setup["args"]:
            words += ["-c", str(max(512, setup["prompt"] + setup["tokens"] + 256))]
        return [*words, *setup["args"]]

    def environment(self, setup):
        out = dict(os.environ)
        for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY", "OMP_NUM_THREADS"):
            out.pop(name, None)
        out.update(setup["env"])
        return out
