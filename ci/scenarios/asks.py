"""What the clients of a server ask, as data."""
import base64
from dataclasses import dataclass, field, replace
from typing import Optional

IMAGE = "@IMAGE"
COMPLETION, CHAT, EMBEDDING, RERANK = "/completion", "/v1/chat/completions", "/embedding", "/rerank"


def prompt(n, seed):
    """Tokens that represent text in all models of the scenarios; another beginning and step for each seed."""
    return [300 + (seed * 37 + i * (seed % 7 + 1)) % 200 for i in range(n)]


@dataclass(frozen=True)
class Ask:
    """One request."""
    prompt: object  # token ids, a text, several of them or messages, as the path takes them; or IMAGE
    n: int = 8  # output tokens
    slot: int = -1  # -1: any
    after_s: float = 0  # wait, from the begin of the round
    cancel_after: Optional[int] = None  # go away when this number of tokens has come
    cut_after_s: Optional[float] = None  # go away then, before any token
    path: str = COMPLETION
    more: dict = field(default_factory=dict)

    def with_image(self, path):
        """A question about the image, which is in the address of a message."""
        with open(path, "rb") as f:
            url = "data:image/png;base64," + base64.b64encode(f.read()).decode()
        content = [{"type": "text", "text": "what is"}, {"type": "image_url", "image_url": {"url": url}}]
        return replace(self, prompt=[{"role": "user", "content": content}])

    def body(self):
        if self.path == EMBEDDING:
            return {"content": self.prompt}
        if self.path == RERANK:
            return {"query": self.prompt[0], "documents": self.prompt[1:]}
        # The seed decides which guesses are accepted where that is drawn.
        generate = {"ignore_eos": True, "temperature": 0, "seed": self.n, "id_slot": self.slot, "cache_prompt": True,
                    **self.more}
        if self.path == CHAT:
            return {"messages": self.prompt, "max_tokens": self.n, **generate}
        return {"prompt": self.prompt, "n_predict": self.n, **generate}

    def texts(self):
        """Tasks that the server makes of it."""
        if self.path == RERANK:
            return len(self.prompt) - 1
        return len(self.prompt) if self.path == EMBEDDING and isinstance(self.prompt[0], list) else 1


def in_turn(*asks):
    """Rounds of one request each."""
    return [[ask] for ask in asks]
