"""A conversation with a server of llama.cpp, and what the server's own clock says of it."""

import http.client
import json
import os
import signal
import socket
import time


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


def converse(port, pid_of, running, turns, words, cache):
    """Waits for the server, sends `turns` requests, each with the previous one and `words` more, and ends it. Returns the answers' timings."""
    while running() and ask(port, "GET", "/health")[0] != 200:
        time.sleep(0.05)
    out = []
    for turn in range(1, turns + 1):
        prompt = [100 + i * 7 % 900 for i in range(turn * words)]
        status, text = ask(port, "POST", "/completion", {"prompt": prompt, "n_predict": 12, "cache_prompt": cache, "ignore_eos": True})
        if status == 200:
            out.append(json.loads(text)["timings"])
    os.kill(pid_of(), signal.SIGINT)
    return out


def times(timings):
    """Times of a run, in ns: all prompts of the conversation, and a token."""
    if not timings:
        return {}
    prompts = sum(t["prompt_ms"] for t in timings) * 1e6
    return {"prompt": prompts, "first_token": prompts, "decode": sum(t["predicted_ms"] for t in timings) * 1e6 / sum(t["predicted_n"] for t in timings)}
