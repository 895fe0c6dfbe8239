"""The figures that are compared: those of the engine and those of the product."""
from dataclasses import dataclass, field
from typing import Optional


@dataclass
class Request:
    """A prompt and its answer. None: not reported."""
    cached: Optional[int] = None  # prompt tokens that were not computed
    prompt: Optional[int] = None  # prompt tokens that were computed
    output: Optional[int] = None  # output tokens, the first one included
    slot: Optional[int] = None
    ttft_ms: Optional[float] = None
    answer_ms: Optional[float] = None  # from the first output token to the last one
    reads: Optional[int] = None  # how often all tokens were computed: the steps of diffusion

    def counts(self, names):
        return tuple(getattr(self, name) for name in names)


@dataclass
class Run:
    """The requests of a run, and the tokens that a draft or a search guessed; None: not reported."""
    requests: list = field(default_factory=list)
    guesses: Optional[int] = 0
    accepted: Optional[int] = 0

    def add(self, other):
        """Adds the requests of a part of the run."""
        self.requests += other.requests
        self.guesses += other.guesses
        self.accepted += other.accepted
