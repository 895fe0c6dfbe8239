#!/usr/bin/env python3
"""Runs an agent that starts llama-server, gives the server one request, prints the answer, ends the server.

The agent ends with the server. A server would outlive the agent.

    serve.py TOKENS PROMPT COMMAND...

The word PORT in the command becomes a free port.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

PATIENCE_S = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def call(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def wait_until_ready(port, agent):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and agent.poll() is None:
        try:
            call(port, "/health")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise TimeoutError("the server did not start")


def end(pid):
    """Interrupts the programs that a process started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        for child in f.read().split():
            os.kill(int(child), signal.SIGINT)


def main():
    tokens, prompt, *command = sys.argv[1:]
    port = free_port()
    command = [str(port) if word == "PORT" else word for word in command]
    with subprocess.Popen(command, stdout=sys.stderr) as agent:
        try:
            wait_until_ready(port, agent)
            body = {"prompt": prompt, "n_predict": int(tokens), "seed": 1, "ignore_eos": True}
            print(json.dumps(call(port, "/completion", body)["timings"]))
        finally:
            end(agent.pid)
            agent.wait(PATIENCE_S)


if __name__ == "__main__":
    main()
