"""What the architectures share: the file with its header, tensors by shape, and their table."""
from dataclasses import dataclass, field

import numpy as np
from gguf import GGMLQuantizationType as T

from gen_models import Model, Writer
from gen_vocab import add_spm_vocab

VOCAB, CONTEXT = 8192, 4096
# An exponent of MXFP4 for weights of about 1/28: its values are at most 6, their deviation is 2.9.
MXFP4_EXPONENT, MXFP4_BYTES, MXFP4_SIZE = 121, 17, 32


@dataclass
class Entry:
    """A model of the table: what it is, and the writers of its files by suffix."""
    about: str
    files: dict = field(default_factory=dict)


MODELS = {}


def model(name, about, suffix=".gguf"):
    """Adds the decorated function to the table. It gets the path of the file to write."""
    def add(write):
        MODELS.setdefault(name, Entry(about)).files[suffix] = write
        return write
    return add


class File(Writer):
    """A GGUF file of one architecture. Matrices are Q8_0 unless given a type."""

    def __init__(self, path, arch, *, embd, layers, vocab=VOCAB, seed=1):
        super().__init__(path, Model(arch, arch=arch, embd=embd, layers=layers, vocab=vocab, seed=seed))
        self.arch, self.embd, self.layers, self.vocab = arch, embd, layers, vocab
        self.w.add_name(arch)
        self.w.add_context_length(CONTEXT)
        self.w.add_embedding_length(embd)
        self.w.add_block_count(layers)
        self.w.add_vocab_size(vocab)
        self.w.add_file_type(7)

    def key(self, name, value):
        """A key of the architecture for which the writer has no method."""
        add = self.w.add_float32 if isinstance(value, float) else self.w.add_uint32
        add(f"{self.arch}.{name}", value)

    def heads(self, heads, kv_heads, dim, *, rope=None):
        self.w.add_head_count(heads)
        self.w.add_head_count_kv(kv_heads)
        self.w.add_key_length(dim)
        self.w.add_value_length(dim)
        self.w.add_rope_dimension_count(rope or dim)
        self.w.add_rope_freq_base(10000.0)

    def ends(self, *, tied=False, gain=None, norm="output_norm"):
        """Vocabulary, embeddings and output."""
        add_spm_vocab(self.w, self.vocab)
        self.matrix("token_embd.weight", self.embd, self.vocab, gain=gain or np.sqrt(self.embd))
        if not tied:
            self.matrix("output.weight", self.embd, self.vocab, gain=4.0)
        self.ones(norm + ".weight", self.embd)

    def norms(self, prefix, names, n=None):
        for name in names.split():
            self.ones(f"{prefix}{name}.weight", n or self.embd)

    def bias(self, name, shape, std=0.1):
        self.vector(name + ".bias", self.values(shape, std))

    def attention(self, p, heads, kv_heads, dim, *, biases=False, gate=1, values=True):
        """Projections of an attention; `gate` is 2 where the queries come with a gate as wide."""
        widths = {"q": heads * dim * gate, "k": kv_heads * dim} | ({"v": kv_heads * dim} if values else {})
        for q, n in widths.items():
            self.matrix(f"{p}attn_{q}.weight", self.embd, n)
            if biases:
                self.bias(f"{p}attn_{q}", n)
        self.matrix(p + "attn_output.weight", heads * dim, self.embd)

    def feed_forward(self, p, ff, *, suffix="", gated=True, out=None):
        """The two or three matrices of a feed-forward network."""
        if gated:
            self.matrix(f"{p}ffn_gate{suffix}.weight", self.embd, ff)
        self.matrix(f"{p}ffn_up{suffix}.weight", self.embd, ff)
        self.matrix(f"{p}ffn_down{suffix}.weight", ff, out or self.embd)

    def experts(self, p, ff, count, *, dtype=None, biases=False, gated=True):
        """A router and its experts."""
        self.matrix(p + "ffn_gate_inp.weight", self.embd, count, T.F32, gain=2.0)
        shapes = {"gate": (self.embd, ff), "up": (self.embd, ff), "down": (ff, self.embd)}
        if biases:
            self.bias(p + "ffn_gate_inp", count)
        for name, (cols, rows) in shapes.items():
            if name == "gate" and not gated:
                continue
            self.matrix(f"{p}ffn_{name}_exps.weight", cols, rows, dtype, experts=count)
            if biases:
                self.bias(f"{p}ffn_{name}_exps", (count, rows))

    def blocks(self, dtype, rows, cols, std):
        """Adds MXFP4 to the block types of gen_models.py: one exponent, then 32 values of four bits."""
        if dtype != T.MXFP4:
            return super().blocks(dtype, rows, cols, std)
        data = self.rng.integers(0, 256, size=(rows * cols // MXFP4_SIZE, MXFP4_BYTES), dtype=np.uint8)
        data[:, 0] = MXFP4_EXPONENT
        return data.reshape(rows, cols // MXFP4_SIZE * MXFP4_BYTES)

    def close(self):
        self.w.write_header_to_file()
        self.w.write_kv_data_to_file()
        self.w.write_tensors_to_file()
        self.w.close()
