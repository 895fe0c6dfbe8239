"""A decoding engine that prints the start and end of each of its calls."""

import os
import re
import signal
import subprocess
import tempfile
import time


class Engine:
    """The driver `nodes` (ci/drivers), which decodes the same tokens again and again until it is ended."""

    def __init__(self, folder, model, threads, round_tokens, cpus=None):
        self.round = round_tokens
        self.out = tempfile.NamedTemporaryFile("w+", suffix=".tsv", encoding="ascii")
        command = ["taskset", "-c", cpus] if cpus else []
        command += [os.path.join(folder, "nodes"), "-m", model, "-t", str(threads), "-p", "8", "-n", str(round_tokens),
                   "-r", "1000000", "--fresh", "--pause"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.out)
        while "ready" not in self.text():
            if self.process.poll() is not None:
                raise SystemExit(f"the engine did not start: {' '.join(command)}")
            time.sleep(0.1)
        self.pid = int(re.search(r"^ready\t(\d+)", self.text(), re.M).group(1))
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def text(self):
        """Its output so far."""
        with open(self.out.name, encoding="ascii") as f:
            return f.read()

    def cpu_library(self):
        """The file of the CPU backend that it chose, from its memory map."""
        with open(f"/proc/{self.pid}/maps", encoding="ascii") as f:
            found = re.search(r" (/\S*(?:libggml-cpu|llama-addon)\S*)", f.read())
        return found and found.group(1)

    def stop(self):
        """Ends it. Returns every call of one token: position after the prompt, start (ns) and duration (ns)."""
        if self.process.poll() is not None:
            raise SystemExit(f"the engine ended by itself with {self.process.returncode}")
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        tokens, place = [], 0
        for line in self.text().splitlines()[:-1]:
            field = line.split("\t")
            if field[0] == "decode":
                place = place + 1 if int(field[3]) == 1 else 0
                if place:
                    tokens.append((place, int(field[4]), int(field[5]) - int(field[4])))
        return tokens
