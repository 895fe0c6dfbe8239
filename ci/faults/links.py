"""See ci/faults/links.sh."""

import json
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

import run


class Link:
    """Forwards a port; `cut` breaks its connections."""

    def __init__(self, agent_port):
        self.agent_port, self.pair, self.lock = agent_port, None, threading.Lock()
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.bytes = self.made = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            host, _ = self.door.accept()
            agent = socket.create_connection(("127.0.0.1", self.agent_port))
            with self.lock:
                self.pair, self.made = (host, agent), self.made + 1
            for a, b in ((host, agent), (agent, host)):
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    def copy(self, a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
                self.bytes += len(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        with self.lock:
            pair, self.pair = self.pair, None
        for s in pair or ():
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()


def main(n):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="links-"))
    agent, port = run.serve(folder, ["--once", "--", *run.engine_command()])
    link = Link(port)
    analyze = run.capture(folder, link.port, "--reconnect", "60")
    seen = 0
    for cut in range(n):
        # Only after new bytes have arrived: a link that is never up carries nothing. A session whose
        # hello never arrived cannot be resumed, so the first cut is after it.
        begun, goal = time.monotonic(), max(2000, link.bytes + random.choice((1, 1000, 10_000)))
        while link.pair is None or link.bytes < goal:
            if analyze.poll() is not None or time.monotonic() > begun + 600:
                run.fail(f"no bytes after {cut} cuts: {(folder / 'analyze.log').read_text()}")
            time.sleep(0.002)
        time.sleep(random.random() * 0.2)
        seen = link.made
        link.cut()
    while link.made == seen or link.pair is None:
        time.sleep(0.01)
    time.sleep(1)
    engines = run.children(agent.pid)
    run.stop(analyze, folder)
    again = json.loads((folder / "analyze.json").read_text())["link"]["reconnects"]
    print(f"{n} cuts, {link.made} connections, {link.bytes / 1e6:.1f} MB; {again} reconnects")
    print(run.accounted(folder / "profile"))
    damaged = run.health(folder / "profile")["damaged"]
    print(f"damaged: {damaged or 'nothing'}")
    agent.wait(60)
    run.end_engines(engines)


try:
    main(int(sys.argv[1]))
finally:
    run.end_all()
