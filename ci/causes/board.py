"""One traced run of the engine on an emulated board or guest (scripts/board.sh)."""

import os
import subprocess
import threading
from pathlib import Path

import clock
import onboard
from host import Failed, Host

PROGRAMS = ("busy", "storm", "bandwidth", "stopper", "realtime")
FILES = {"pid": "pid", "pids": "pids", "text": "text", "log": "log", "agent.json": "json", "agent.log": "agent", "t.pfi": "pfi"}


class Board(Host):
    """Runs setups on a board, which is booted anew if a setup needs another one."""

    def __init__(self, tools, folder):
        super().__init__(tools, folder)
        self.booted = None

    def sh(self, *words, **options):
        """A command of scripts/board.sh for this board."""
        return subprocess.run(["scripts/board.sh", "--board", f"causes-{os.getpid()}", *map(str, words)], cwd=self.tools.repo, stdin=subprocess.DEVNULL, **options)

    def boot(self, setup):
        wanted = (setup["boot"], setup["model"])
        if self.booted == wanted:
            return
        self.close()
        model = ["--model", setup["model"]] if setup["model"] else []
        if self.sh("up", *setup["boot"].split(), *model, stdout=subprocess.DEVNULL).returncode:
            raise Failed(f"the board does not boot: {setup['boot']}")
        self.booted = wanted
        arch = "x86_64" if "x86-64" in setup["boot"] else "aarch64"
        for name in PROGRAMS:
            self.sh("put", self.tools.static(name, arch), f"/tmp/{name}", check=True)

    def close(self):
        if self.booted:
            self.sh("down", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.booted = None

    def speeds(self, speeds):
        for cpus, percent in speeds.items():
            self.sh("speed", percent, *cpus.split(","), check=True)

    def heats(self, spec):
        """Slows the board down when its files say that it became hot."""
        self.sh("run", "until [ -e /tmp/hot ]; do sleep 0.05; done", check=True)
        self.speeds(spec["speeds"])

    def run_once(self, setup, name):
        self.boot(setup)
        self.speeds(setup["speeds"])
        if any(spec["do"] == "clock" for spec in setup["plant"]):
            self.sh("run", onboard.FILES, check=True)
        hot = None
        for spec in setup["plant"]:
            if spec["do"] == "clock" and spec.get("at"):
                hot = threading.Thread(target=self.heats, args=(spec,))
                self.sh("run", "rm -f /tmp/hot", check=True)
                hot.start()
            elif spec["do"] == "clock":
                self.speeds(spec["speeds"])
        done = self.sh("run", onboard.script(setup), capture_output=True, text=True)
        if hot:
            self.sh("run", "echo end >/tmp/hot", check=True)
            hot.join()
        files = {}
        for there, kind in FILES.items():
            files[kind] = Path(self.folder) / f"{name}.{kind}"
            self.sh("get", f"/tmp/{there}", files[kind], stderr=subprocess.DEVNULL)
        read = {kind: files[kind].read_text(errors="replace") if files[kind].exists() else "" for kind in ("text", "log", "agent", "pid", "pids")}
        times = clock.times("nodes", read["text"], read["log"])
        if done.returncode or not times:
            raise Failed(f"{name}: exit status {done.returncode}: {' / '.join((done.stderr + read['agent'] + read['log']).strip().splitlines()[-3:])}")
        names = ["storm"] if any(spec["do"] == "storm" for spec in setup["plant"]) else []
        planted = {"pids": [int(p) for p in read["pids"].split()], "names": names}
        return {"times": times, "pid": int(read["pid"]), "planted": planted, "recording": str(files["pfi"])}
