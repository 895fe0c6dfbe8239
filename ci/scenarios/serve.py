"""Runs llama-server under the agent, sends the requests of a scenario, and returns what the server reports of each."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPConnection, HTTPException

from asks import EMBEDDING, RERANK
from figures import Request, Run

PATIENCE_S = 120
# A cancelled request and a text that is only read have no `timings`. The server's log has their tokens:
# those that its slot holds in the end.
RELEASED = re.compile(r"slot +release: id +(\d+) \| task (\d+) \| stop processing: n_tokens = (\d+)")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server and its agent, which ends with it."""

    def __init__(self, command, log):
        self.port = free_port()
        command = [*command, "--port", str(self.port)]
        self.log_path = log
        with open(log, "w", encoding="utf-8") as f:
            self.agent = subprocess.Popen(command, stdout=f, stderr=f, stdin=subprocess.DEVNULL)

    def __enter__(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.agent.poll() is None:
            try:
                self.post("/health")
                return self
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        self.__exit__()
        raise RuntimeError(f"the server did not start: {last_line(self.log_path)}")

    def __exit__(self, *_):
        engines = children(self.agent.pid)
        for pid in engines:
            os.kill(pid, signal.SIGINT)
        try:
            self.agent.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            for pid in engines:
                os.kill(pid, signal.SIGKILL)
            self.agent.kill()
            raise

    def open(self, path, body):
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=PATIENCE_S)

    def post(self, path, body=None):
        with self.open(path, body) as answer:
            return json.load(answer)

    def releases(self):
        """Tokens in the slot of each task that has ended, by task."""
        return {int(task): (int(slot), int(n)) for slot, task, n in RELEASED.findall(contents(self.log_path))}


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except FileNotFoundError:
        return []


def contents(path):
    """A log; generated text in it may be damaged UTF-8."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def last_line(path):
    return (contents(path).strip().splitlines() or ["no output"])[-1]


def from_timings(timings, slot):
    return Request(
        cached=timings["cache_n"], prompt=timings["prompt_n"], output=timings["predicted_n"],
        ttft_ms=timings["prompt_ms"], answer_ms=timings["predicted_ms"], slot=slot)


def send(server, ask):
    """Sends a request, and returns what the server reports of it."""
    if ask.cancel_after is not None:
        return Run([cancel(server, ask)])
    if ask.cut_after_s is not None:
        return Run([cut(server, ask)])
    before = server.releases()
    answer = server.post(ask.path, ask.body())
    if ask.path in (EMBEDDING, RERANK):
        return Run([Request(prompt=n, output=0, slot=slot) for slot, n in tasks_since(server, before, ask.texts())])
    run = Run()
    for i, one in enumerate(answer if isinstance(answer, list) else [answer]):
        timings = one["timings"]
        request = from_timings(timings, one.get("id_slot"))
        if i > 0:
            # Further answers to a prompt repeat the figures of the first one. They computed no prompt: they got
            # its cells.
            request.cached, request.prompt, request.ttft_ms = request.cached + request.prompt, 0, None
        run.add(Run([request], timings.get("draft_n", 0), timings.get("draft_n_accepted", 0)))
    return run


def tasks_since(server, before, count, slot=-1):
    """The tasks that ended since, in a slot or in any: slot and tokens. The log is written a moment after the
    answer."""
    end = time.monotonic() + 5
    while True:
        new = [v for task, v in server.releases().items() if task not in before and slot in (-1, v[0])]
        if len(new) >= count or time.monotonic() > end:
            return new
        time.sleep(0.05)


def cancel(server, ask):
    """Reads some parts of an answer and goes away. The server goes on for a moment: its log has the result."""
    before = server.releases()
    body = ask.body() | {"stream": True, "timings_per_token": True}
    timings = None
    with server.open(ask.path, body) as answer:
        parts = 0
        while parts < ask.cancel_after:
            line = answer.readline()
            if line.startswith(b"data: {"):
                timings = json.loads(line[6:]).get("timings", timings)
                parts += 1
        answer.close()
    (slot, held), = tasks_since(server, before, 1, ask.slot)
    # The slot holds the prompt and every output token but the last, which nothing was computed with.
    prompt, cached = timings["prompt_n"], timings["cache_n"]
    output = held - cached - prompt + 1
    return Request(cached=cached, prompt=prompt, output=output, slot=slot, ttft_ms=timings["prompt_ms"])


def cut(server, ask):
    """Goes away while the prompt of an empty slot is read. The slot holds the part that was read. A server that notices
    late has begun to answer: as in cancel()."""
    before = server.releases()
    connection = HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", ask.path, json.dumps(ask.body()), {"Content-Type": "application/json"})
    time.sleep(ask.cut_after_s)
    connection.close()
    (slot, held), = tasks_since(server, before, 1, ask.slot)
    prompt = min(held, len(ask.body()["prompt"]))
    return Request(cached=0, prompt=prompt, output=held - prompt + (held >= len(ask.body()["prompt"])), slot=slot)


def run(command, log, rounds):
    """Runs a server. Each round's requests are sent at the same time, the next round when all have ended."""
    engine = Run()
    with Server(command, log) as server:
        for asks in rounds:
            results, errors = [], []

            def client(ask):
                try:
                    time.sleep(ask.after_s)
                    results.append(send(server, ask))
                except (OSError, HTTPException, KeyError, TypeError, ValueError) as e:
                    errors.append(e)

            clients = [threading.Thread(target=client, args=(ask,)) for ask in asks]
            for c in clients:
                c.start()
            for c in clients:
                c.join()
            if errors:
                raise RuntimeError(f"a request failed: {errors[0]} ({last_line(log)})")
            for one in results:
                engine.add(one)
    return engine
