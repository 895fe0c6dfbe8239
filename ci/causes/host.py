"""One traced run of the engine on this machine, with what is planted, and the verdict of its recording."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import client
import clock
import files as system
import verdict
from group import Groups
from plant import Plants

#: Longest time of one run, s. A run that takes longer has failed.
LONGEST = 300
#: The engine enters its groups and writes its process ID, then becomes the engine.
ENTER = 'echo $$ >"$1"; text=$2 log=$3 groups=$4; shift 4; for g in $groups; do echo $$ >"$g"; done; exec "$@" >"$text" 2>"$log"'


class Failed(Exception):
    """The run says nothing about the cause."""


def evict(path):
    """Takes a file out of the page cache."""
    with open(path, "rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warm(path):
    """Reads a file into the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def calls_so_far(text):
    """Complete lines of the engine's driver."""
    try:
        return text.read_bytes().count(b"decode\t")
    except FileNotFoundError:
        return 0


def end(agent, pid_file):
    """Ends a run that takes too long: the engine first, so that the agent does not leave it behind."""
    try:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
        agent.wait(10)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        agent.kill()


class NoTimes(Failed):
    """The engine ended well, and its log does not have its figures."""


class Host:
    """Runs setups under the agent. The same for planted and remedied runs, so that the cost of the probes is in both."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, Path(folder)

    def run(self, setup, name):
        """A run. llama.cpp writes its log in a thread of its own, whose last lines are lost now and then; such a run is repeated."""
        for _ in range(2):
            try:
                return self.run_once(setup, name)
            except NoTimes:
                pass
        return self.run_once(setup, name)

    def run_once(self, setup, name):
        """Times by the engine's clock, the engine's process ID, what was planted, and the recording."""
        files = {kind: self.folder / f"{name}.{kind}" for kind in ("pfi", "pid", "text", "log", "json", "agent")}
        for file in files.values():
            file.unlink(missing_ok=True)
        model = self.tools.file(setup)
        if setup["evict"]:
            evict(model)
        else:
            warm(model)
        groups = plants = agent = stand_in = None
        timings, port = [], client.free_port() if setup["requests"] else 0
        try:
            groups = Groups(setup["group"], model)
            plants = Plants(setup["plant"], self.tools, groups, setup)
            if setup["steal"]:
                stand_in = system.Stolen(self.folder / "stat", setup["steal"])
            agent = self.start(setup, files, groups, ["--port", str(port)] if port else [])
            if port:
                timings = client.converse(port, lambda: int(files["pid"].read_text()), lambda: agent.poll() is None, **setup["requests"])
            self.follow(agent, plants, files, setup)
            planted = plants.planted()
        finally:
            if agent and agent.poll() is None:
                end(agent, files["pid"])
            if plants:
                plants.close()
            if groups:
                groups.close()
            if stand_in:
                stand_in.close()
        times = client.times(timings) if port else clock.times(setup["tool"], files["text"].read_text(errors="replace"), files["log"].read_text(errors="replace"))
        if agent.returncode or not times:
            last = (files["agent"].read_text(errors="replace") + files["log"].read_text(errors="replace")).strip().splitlines()[-3:]
            raise (Failed if agent.returncode else NoTimes)(f"{name}: exit status {agent.returncode}: {' / '.join(last)}")
        return {"times": times, "pid": int(files["pid"].read_text()), "planted": planted, "recording": str(files["pfi"])}

    def start(self, setup, files, groups, more):
        place = ["taskset", "-c", setup["cpus"]] + (["nice", "-n", str(setup["nice"])] if setup["nice"] else [])
        preload = ["env", f"LD_PRELOAD={self.tools.program('lib' + setup['preload'] + '.so')}"] if setup["preload"] else []
        enter = ["sh", "-c", ENTER, "sh", files["pid"], files["text"], files["log"], " ".join(groups.files())]
        words = [self.tools.agent, "record", "--format", "json", "--out", files["pfi"], *setup["agent"], "--", *enter, *place, *self.tools.allocation(setup), *preload]
        words += [*self.tools.command(setup), *more]
        mounts = [(self.folder / "stat", system.STAT)] if setup["steal"] else []
        if setup["sysfs"]:
            system.tree(self.folder / "cpu", setup["sysfs"])
            mounts.append((self.folder / "cpu", system.CPUS))
        if mounts:
            words = [*system.entered(mounts), *words]
        with open(files["json"], "wb") as out, open(files["agent"], "wb") as err:
            return subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.tools.environment(setup))

    def follow(self, agent, plants, files, setup):
        """Until the engine ends; starts and ends plants by its calls."""
        latest = time.monotonic() + LONGEST
        end = os.pidfd_open(agent.pid)
        try:
            while agent.poll() is None:
                if time.monotonic() > latest:
                    raise Failed(f"longer than {LONGEST} s")
                if plants.watching() and files["text"].exists() and files["pid"].exists():
                    pid = files["pid"].read_text().strip()
                    # A stop before the first instruction of the engine would be one of the shell.
                    if pid and (files["log"].stat().st_size or files["text"].stat().st_size):
                        plants.progress(calls_so_far(files["text"]) if setup["tool"] == "nodes" else 0, int(pid))
                # Whoever looks takes time from the engine, which would be part of the planted loss: a look takes some 0.5 ms. So nobody
                # looks unless a plant waits for a call, and then about once per token.
                select.select([end], [], [], 0.02 if plants.watching() else max(0, latest - time.monotonic()))
        finally:
            os.close(end)

    def verdict(self, run, places=()):
        """What `analyze` concludes from the recording, and the values at these places of its summary."""
        profile = self.folder / "profile"
        done = subprocess.run([self.tools.analyze, run["recording"], "-o", profile, "--format", "json"], capture_output=True, text=True, check=False)
        summary = profile / "summary.json"
        if done.returncode or not summary.exists():
            raise Failed(f"analyze: {done.stderr.strip().splitlines()[-1:]}")
        with open(summary, encoding="utf-8") as file:
            out = verdict.reduced(json.load(file), run["pid"], places)
        subprocess.run(["rm", "-rf", str(profile)], check=True)
        return out
