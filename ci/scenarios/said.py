"""Reads what the tools of llama.cpp print about a run. Each function gets the output and returns the figures."""
import json
import re

from figures import Request, Run

PROMPT = re.compile(r"prompt eval time = +([\d.]+) ms / +(\d+) tokens")
RUNS = re.compile(r" eval time = +[\d.]+ ms / +(\d+) runs")
COLORS = re.compile(r"\x1b\[[\d;]*m")


def number(text, pattern):
    """The only number that a pattern finds, or the last one of several."""
    found = re.findall(pattern, text)
    if not found:
        raise ValueError(f"the engine's output has no '{pattern}'")
    return int(found[-1])


def completion(text):
    """One prompt and its answer. The first token comes from the prompt's call, the others from a run each. The time of
    the runs leaves sampling out, which ProfInfer includes."""
    prompt_ms, prompt = PROMPT.findall(text)[-1]
    return Run([Request(0, int(prompt), runs(text) + 1, ttft_ms=float(prompt_ms))])


def runs(text):
    return int(RUNS.findall(text)[-1])


def encoder_decoder(text):
    """The encoder reads the prompt. The decoder's first run has the start token, and the first output."""
    prompt = int(PROMPT.findall(text)[-1][1])
    return Run([Request(0, prompt, runs(text))])


def lookup(text):
    """n_predict counts all tokens that came out."""
    prompt, output = number(text, r"encoded +(\d+) tokens"), number(text, r"n_predict += (\d+)")
    return Run([Request(0, prompt, output)], number(text, r"n_drafted += (\d+)"), number(text, r"n_accept += (\d+)"))


def lookahead(text):
    """The tool does not count the token that the prompt's call gave."""
    prompt, output = number(text, r"encoded +(\d+) tokens"), number(text, r"n_predict += (\d+)") + 1
    return Run([Request(0, prompt, output)], None, number(text, r"n_accept += (\d+)"))


def parallel(text):
    """A line for each client's request. A response is counted by the calls after the prompt, each of which gives one
    more token than the prompt's own."""
    lines = [(int(p), int(r)) for p, r in re.findall(r"prompt +(\d+) t, response +(\d+) t", COLORS.sub("", text))]
    totals = number(text, r"Total prompt tokens: +(\d+)"), number(text, r"Total gen tokens: +(\d+)")
    if totals != (sum(p for p, _ in lines), sum(r for _, r in lines)):
        raise ValueError(f"the lines of the clients are not all there: {lines}, in all {totals}")
    return Run([Request(prompt=p, output=r + 1) for p, r in lines])


def shared_prompt(text):
    """llama-parallel computes a shared system prompt once, before the requests of the clients."""
    system = number(text, r"system tokens = (\d+)")
    run = parallel(text)
    for r in run.requests:
        r.cached = system
    run.requests.append(Request(cached=0, prompt=system, output=0))
    return run


def rows(text):
    """Rows of llama-batched-bench: tokens of the prompt, tokens after it, sequences."""
    found = [tuple(map(int, row)) for row in re.findall(r"^\| +(\d+) \| +(\d+) \| +(\d+) \|", text, re.M)]
    if not text.rstrip(" ").endswith("|\n\n"):
        raise ValueError("the table is not complete")
    return found


def batched_bench(text):
    """Each sequence has a prompt, which gives one token, and then a call for each token."""
    return Run([Request(0, prompt, after + 1) for prompt, after, sequences in rows(text) for _ in range(sequences)])


def shared_bench(text):
    """The first sequence computes the prompt for all."""
    run = Run()
    for prompt, after, sequences in rows(text):
        run.requests += [Request(0, prompt, after + 1)] + [Request(prompt, 0, after + 1)] * (sequences - 1)
    return run


def bench(text):
    """Prompts of n_prompt tokens, whose last one has logits, and answers of n_gen tokens from a start token."""
    run = Run()
    for test in json.loads(text[text.index("[\n"):text.rindex("]") + 1]):
        prompt, n = test["n_prompt"], test["n_gen"]
        run.requests += [Request(0, 1, n) if n else Request(0, prompt, 1)] * len(test["samples_ns"])
    return run


def perplexity(text):
    """Texts of n_ctx tokens that are only read."""
    chunks, n_ctx = re.findall(r"over (\d+) chunks, n_ctx=(\d+)", text)[-1]
    return Run([Request(0, int(n_ctx), 0) for _ in range(int(chunks))])


def embedding(text):
    return Run([Request(0, int(n), 0) for n in re.findall(r"number of tokens in prompt = (\d+)", text)])


def passkey(text):
    """The tool counts the calls after the prompt. It takes a token from each, and one from the prompt's call."""
    return Run([Request(0, number(text, r"prompt tokens: (\d+)"), number(text, r"decoded (\d+) tokens") + 1)])


def speech(text):
    """A frame of sound per output of the language model."""
    return Run([Request(output=number(text, r"generated (\d+) frames"))])


def diffusion(text):
    """Every step computes all max_length tokens."""
    steps, length = number(text, r"steps +u32 += (\d+)"), number(text, r"max_length +u32 += (\d+)")
    return Run([Request(0, length, 0, reads=steps)])
