"""Ways to trace a running engine: start, end, and the tracer's own figures."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time


class Way:
    """One tracer, as a process."""

    #: Seconds from its start until it is ready, and from its end until the kernel has cleaned up.
    settle, rest = 2.5, 1.0
    #: It traces only some tokens: its window must contain many of its periods, and every token counts.
    periods = False
    #: Destination of its standard output.
    stdout = subprocess.DEVNULL

    def __init__(self, name, command, said=None):
        self.name, self.command, self.said = name, command, said
        self.process, self.folder = None, tempfile.mkdtemp()
        self.words = []

    def begin(self, engine, cpus=None):
        """Starts the tracer of that engine, on those CPUs."""
        command = ["taskset", "-c", cpus] if cpus else []
        command += [w.format(pid=engine.pid, lib=engine.cpu_library(), out=os.path.join(self.folder, "out")) for w in self.command]
        self.process = subprocess.Popen(command, stdout=self.stdout, stderr=subprocess.PIPE, text=True)
        time.sleep(self.settle)
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended by itself: {' '.join(command)}\n{self.process.stderr.read()}")

    def end(self):
        """Stops the tracer and keeps its figures."""
        self.process.send_signal(signal.SIGINT)
        self.words += self.figures(*self.process.communicate())
        time.sleep(self.rest)

    def figures(self, _out, words):
        """Its own figures: none or one set of them."""
        if not self.said:
            return []
        found = re.search(self.said, words)
        if not found:
            raise SystemExit(f"{self.name} said: {words}")
        return [{k: float(v) for k, v in found.groupdict().items()}]


class Nothing(Way):
    """The same windows without a tracer: the accuracy of the figures."""

    settle = rest = 0.1

    def __init__(self):
        super().__init__("nothing", [])

    def begin(self, engine, cpus=None):
        time.sleep(self.settle)

    def end(self):
        time.sleep(self.rest)


TRACER_SAID = r"(?P<sent>\d+) records, (?P<lost>\d+) lost"

# Braces are doubled because the words of the command are format strings.
BPFTRACE = "uprobe:%s {{ @s[tid] = nsecs; @t[tid] = arg1; }} uprobe:%s /@s[tid]/ " \
    '{{ printf("%%d %%llu %%llu %%lx\\n", tid, @s[tid], nsecs, @t[tid]); delete(@s[tid]); }}'


class Agent(Way):
    """The agent, which prints its summary as JSON."""

    stdout = subprocess.PIPE

    def figures(self, out, words):
        try:
            said = json.loads(out)
            return [{"sent": said["spans_sent"], "lost": said["spans_lost"], "mb": said["rss_bytes"] / 1e6, "cpu": said["cpu_ns"] / 1e9}]
        except (ValueError, KeyError) as e:
            raise SystemExit(f"{self.name} said: {out}{words}") from e


class Duty(Agent):
    """The agent with a duty cycle."""

    periods = True


class Bpftrace(Way):
    """bpftrace that prints a line per operator."""

    settle = 3.0

    def __init__(self, name, start, end):
        super().__init__(name, ["bpftrace", "--unsafe", "-p", "{pid}", "-e", BPFTRACE % (start, end)])


#: Traces every call. Agents that have no --full know this too.
FULL = ["--duty", "100%"]

#: Options of the agent, by name.
AGENT = {
    "default": [],
    "op": ["--levels", "token,graph,op", *FULL],
    "all": ["--levels", "all", *FULL],
    "token": ["--levels", "token"],
    "token+graph": ["--levels", "token,graph"],
    "starts": ["--levels", "token,graph,op", "--ends", "none", *FULL],
    "duty": ["--levels", "token,graph,op", "--duty", "10%"],
    "direct": ["--levels", "token,graph,op", "--probes", "direct", *FULL],
}


def agent(name, path):
    """The agent, by a name of `AGENT`."""
    kind = Duty if name in ("default", "duty") else Agent
    return kind(name, [path, "record", "--format", "json", "--pid", "{pid}", "--out", "{out}", *AGENT[name]])


def tracer(name, path, *places_of_programs):
    """Programs of tracer.bpf.c, each at its probe."""
    return Way(name, [path, f"{path}.o", "{pid}", "{lib}", *places_of_programs], TRACER_SAID)


def places(agent_path, lib):
    """Offsets of the start and end probes of operators in the CPU backend, from the agent."""
    said = subprocess.run([agent_path, "engine", "--format", "json", lib], capture_output=True, text=True, check=False).stdout
    probes = [probe for file in json.loads(said)["files"] for probe in file["probes"]]
    starts = [p["offset"] for p in probes if p["what"] in ("operator_start", "fused_operator_start")]
    end = next((p["offset"] for p in probes if p["what"] == "operator_end"), None)
    return starts, end


def symbol(lib, name):
    """File offset of an exported function. The address and offset of its segment differ in some builds."""
    said = subprocess.run(["readelf", "-W", "--dyn-syms", "-l", lib], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^ *\d+: ([0-9a-f]+) .* FUNC .* {name}$", said, re.M)
    if not found:
        return None
    address = int(found.group(1), 16)
    for offset, at, size in re.findall(r"^ +LOAD +(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)", said, re.M):
        if int(at, 16) <= address < int(at, 16) + int(size, 16):
            return hex(address - int(at, 16) + int(offset, 16))
    return None
