"""The product's figures of a run, from its summary.json."""
import json

from figures import Request, Run


def ms(ns):
    return None if ns is None else ns / 1e6


def listed(r):
    """A row of the list of requests. `generated` leaves the first token out."""
    answer = None if r["tpot_ns"] is None else ms(r["tpot_ns"] * r["generated"])
    output = r["generated"] + (r["ttft_ns"] is not None)
    return Request(r["reused"], r["prompt_tokens"], output, r["slot"], ms(r["ttft_ns"]), answer)


def of_slot(r):
    """A row of the requests by slot."""
    n = r["output_tokens"]
    answer = None if r["tpot_ns"] is None or n is None else ms(r["tpot_ns"] * (n - 1))
    return Request(r["reused"], r["prompt_tokens"], n, r["slot"], ms(r["ttft_ns"]), answer, r["reads"])


def total(rounds, name):
    """A sum over the pairs of draft and target; None without any."""
    found = [r[name] for r in rounds if r[name] is not None]
    return sum(found) if found else None


def read(path):
    """The run by the list of requests, and the run by slots, which is empty where batches have no sequences."""
    with open(path, encoding="utf-8") as f:
        summary = json.load(f)
    speculative = summary["speculative"]
    guesses, accepted = total(speculative, "drafted"), total(speculative, "accepted")
    requests = [listed(r) for r in summary["tokens"]["requests"]]
    return Run(requests, guesses, accepted), Run([of_slot(r) for r in summary["server"]["requests"]])
