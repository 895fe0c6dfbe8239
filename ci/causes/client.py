"""Conversations with a server of llama.cpp, and what the server's own clock says of it."""

import http.client
import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(port, method, path, body=None):
    """Status and text of an answer; (0, "") if nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except OSError:
        return 0, ""
    finally:
        connection.close()


def conversation(port, client, turns, words, cache, tokens):
    """Timings of the answers to `turns` requests, each with the previous one and `words` more."""
    out = []
    for turn in range(1, turns + 1):
        prompt = [100 + (client * 31 + i * 7) % 900 for i in range(turn * words)]
        status, text = ask(port, "POST", "/completion", {"prompt": prompt, "n_predict": tokens, "cache_prompt": cache, "ignore_eos": True})
        if status == 200:
            out.append(json.loads(text)["timings"])
    return out


def converse(port, pid_of, running, turns, words, cache, clients=1, tokens=12):
    """Waits for the server, has so many conversations at the same time, and ends it. Returns the answers' timings."""
    while running() and ask(port, "GET", "/health")[0] != 200:
        time.sleep(0.05)
    with ThreadPoolExecutor(clients) as pool:
        done = pool.map(lambda client: conversation(port, client, turns, words, cache, tokens), range(clients))
        out = [timings for answers in done for timings in answers]
    os.kill(pid_of(), signal.SIGINT)
    return out


def times(timings):
    """Times of a run, in ns: all prompts, and a token of one client."""
    if not timings:
        return {}
    prompts = sum(t["prompt_ms"] for t in timings) * 1e6
    return {"prompt": prompts, "first_token": prompts, "decode": sum(t["predicted_ms"] for t in timings) * 1e6 / sum(t["predicted_n"] for t in timings)}
