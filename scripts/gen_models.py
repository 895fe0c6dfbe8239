#!/usr/bin/env python3
"""Writes GGUF models with random weights: real architectures, real tensor types and
shapes, a working tokenizer, no meaning in the text they make.

Quantised tensors are written directly as random but valid blocks, so no quantiser is
needed and an engine does the same work, over the same bytes, as for a trained model.
The same name always gives the same bytes.

Needs the Python packages gguf and numpy (scripts/model.sh runs this with both at hand).
"""
import argparse
import os
import sys
from dataclasses import dataclass, replace
from typing import Optional

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

import gen_lfm2
import gen_mamba
from gen_vocab import add_bpe_vocab, add_spm_vocab


@dataclass(frozen=True)
class Model:
    """The shape of one model. Widths are in elements."""
    about: str
    arch: str = "llama"
    layers: int = 4
    embd: int = 256
    ff: int = 512
    heads: int = 8
    kv_heads: int = 2
    head_dim: Optional[int] = None        # None: embd / heads
    vocab: int = 1024
    weights: T = T.Q8_0
    down: Optional[T] = None              # ffn_down and attn_v, where the type differs (as in Q4_K_M)
    output: Optional[T] = None            # embeddings and output, likewise
    experts: int = 0
    experts_used: int = 0
    expert_ff: int = 0
    shared_ff: int = 0                    # width of the always-on expert (qwen2moe)
    tied: bool = False                    # output matrix = embeddings
    embd_gain: float = 1.0
    seed: int = 1
    quiet_from: Optional[int] = None      # layers from this one on add only `quiet_gain` of their usual
    quiet_gain: float = 1.0


# spec-target begins with spec-draft's own two layers (same seed), and its other ten add next to
# nothing: the draft then guesses the target's token most of the time, as a good draft does.
SPEC = dict(embd=512, ff=1536, kv_heads=4, vocab=2048, seed=7)
ONE_B = dict(layers=16, embd=2048, ff=8192, heads=32, kv_heads=8, vocab=32000, seed=3)
MID = dict(layers=8, embd=1024, ff=2816, heads=16, kv_heads=4, vocab=16000, seed=5)
MID_WIDE = dict(layers=10, embd=1536, ff=4096, heads=12, kv_heads=4, vocab=16000, seed=6)
MID_NARROW = dict(layers=12, embd=1024, ff=2816, heads=16, kv_heads=2, vocab=8192, seed=8)
MODELS = {
    "dense-q8": Model("llama, 4 layers, Q8_0"),
    "dense-f16": Model("llama, 4 layers, F16", weights=T.F16),
    "dense-f32": Model("llama, 4 layers, F32: a type that no CPU variant repacks", weights=T.F32),
    "dense-q4": Model("llama, 4 layers, Q4_0: a type that most CPU variants repack", weights=T.Q4_0),
    "dense-q4k": Model("llama, 4 layers, Q4_K and Q6_K", weights=T.Q4_K, down=T.Q6_K, output=T.Q6_K),
    "moe-qwen60": Model("qwen2moe, 6 layers, 60 experts of which 4 used, and a shared one",
                        arch="qwen2moe", layers=6, kv_heads=8, experts=60, experts_used=4,
                        expert_ff=128, shared_ff=512),
    "moe-mixtral8": Model("llama (Mixtral), 4 layers, 8 experts of which 2 used",
                          experts=8, experts_used=2),
    "qwen2-q8": Model("qwen2, 4 layers, Q8_0", arch="qwen2", ff=704),
    "gemma2-q8": Model("gemma2, 4 layers, Q8_0", arch="gemma2", ff=1024, heads=4, head_dim=64,
                       tied=True, embd_gain=0.06),
    "narrow-f32": Model("llama, 48 narrow layers, F32: as many operators a second as an engine can run",
                        layers=48, embd=64, ff=64, heads=2, kv_heads=1, vocab=512, weights=T.F32),
    "deep-q8": Model("llama, 300 narrow layers, Q8_0: a graph that the agent reads in parts",
                     layers=300, embd=64, ff=64, heads=1, kv_heads=1, vocab=512),
    "deeper-q8": Model("llama, 490 narrow layers, Q8_0: a graph almost as large as the agent reads",
                       layers=490, embd=64, ff=64, heads=1, kv_heads=1, vocab=512),
    "deepest-q8": Model("gemma2, 512 narrow layers, Q8_0: more nodes in a graph than the agent reads", arch="gemma2",
                        layers=512, embd=64, ff=64, heads=1, kv_heads=1, vocab=512, tied=True, embd_gain=0.06),
    "mamba-q8": Model("mamba, 6 layers, Q8_0", arch="mamba", layers=6, ff=0, heads=0, kv_heads=0),
    "lfm2-q8": Model("lfm2, 9 layers, Q8_0: a hybrid, of which every third layer attends", arch="lfm2", layers=9,
                     ff=1024, tied=True),
    "spec-target": Model("llama, 12 layers: the target of speculative decoding",
                         layers=12, quiet_from=2, quiet_gain=0.01, **SPEC),
    "spec-draft": Model("llama, 2 layers: its draft", layers=2, **SPEC),
    "mid-llama": Model("llama, 8 layers, 122 M weights: for series over types (--weights)", **MID),
    "mid-wide": Model("llama, 10 layers, 305 M weights, likewise", **MID_WIDE),
    "mid-qwen2": Model("qwen2, 12 layers, 143 M weights, likewise", arch="qwen2", **MID_NARROW),
    "mid-gemma2": Model("gemma2, 8 layers, 139 M weights, tied embeddings, likewise", arch="gemma2",
                        tied=True, embd_gain=0.06, head_dim=64, **{**MID, "vocab": 24000}),
    "mid-moe": Model("qwen2moe, 8 layers, 32 experts of which 4 used, likewise", arch="qwen2moe", layers=8,
                     embd=1024, ff=2816, heads=16, kv_heads=8, vocab=8192, experts=32, experts_used=4,
                     expert_ff=512, shared_ff=1024),
    "big-1b-q4km": Model("llama, shaped like a 1B model, Q4_K_M",
                         weights=T.Q4_K, down=T.Q6_K, output=T.Q6_K, **ONE_B),
    "big-1b-q8": Model("llama, shaped like a 1B model, Q8_0", **ONE_B),
    "big-moe-a2b": Model("qwen2moe, 8 layers, 60 experts of which 4 used, Q4_K",
                         arch="qwen2moe", layers=8, embd=1024, ff=2816, heads=16, kv_heads=16,
                         vocab=8192, weights=T.Q4_K, down=T.Q6_K, experts=60, experts_used=4,
                         expert_ff=768, shared_ff=2816),
}

# Per block type: where its half-precision scale fields lie, and by what to divide the wanted
# standard deviation to get each, given uniformly random bits in the rest of the block.
# A K-quant's second field (dmin) shifts the mean back to zero.
SCALES = {
    T.Q8_0: [(0, 1 / 74)],
    T.Q4_0: [(0, 1 / 4.6)],
    T.Q4_1: [(0, 1 / 4.6), (2, -7.5 / 4.6)],
    T.Q5_0: [(0, 1 / 9.2)],
    T.Q5_1: [(0, 1 / 9.2), (2, -15.5 / 9.2)],
    T.IQ4_NL: [(0, 1 / 70)],
    T.IQ4_XS: [(0, 1 / 1300)],
    T.Q2_K: [(80, 1 / 14), (82, 1.5 / 14)],
    T.Q3_K: [(108, 1 / 43)],
    T.Q4_K: [(0, 1 / 160), (2, 7.5 / 160)],
    T.Q5_K: [(0, 1 / 320), (2, 15.5 / 320)],
    T.Q6_K: [(208, 1 / 1360)],
}


class Writer:
    """Writes the tensors of one model; keeps the random generator."""

    def __init__(self, path, model):
        self.m = model
        self.w = gguf.GGUFWriter(path, model.arch)
        self.rng = np.random.default_rng(model.seed)

    def values(self, n, std):
        # float32(std): with numpy 2 a float64 scalar would silently widen the tensor to F64,
        # which engines do not accept as a weight
        return self.rng.standard_normal(n, dtype=np.float32) * np.float32(std)

    def matrix(self, name, cols, rows, dtype=None, experts=None, gain=1.0):
        """rows x cols weights (ne = [cols, rows, experts]) with standard deviation gain/sqrt(cols)."""
        dtype = self.m.weights if dtype is None else dtype
        std = gain / np.sqrt(cols)
        n = rows * (experts or 1)
        if dtype in (T.F32, T.F16):
            data, raw = self.values((n, cols), std), None
            if dtype == T.F16:
                data = data.astype(np.float16)
        elif dtype == T.BF16:
            # the upper half of each float
            data, raw = self.values((n, cols), std).view(np.uint16)[:, 1::2].copy().view(np.uint8), dtype
        else:
            data, raw = self.blocks(dtype, n, cols, std), dtype
        if experts:
            data = data.reshape(experts, rows, -1)
        self.w.add_tensor(name, data, raw_dtype=raw)

    def blocks(self, dtype, rows, cols, std):
        size, nbytes = gguf.GGML_QUANT_SIZES[dtype]
        if cols % size:
            raise ValueError(f"{cols} columns are not a whole number of {dtype.name} blocks")
        data = self.rng.integers(0, 256, size=(rows * cols // size, nbytes), dtype=np.uint8)
        for at, factor in SCALES[dtype]:
            data[:, at:at + 2] = np.frombuffer(np.float16(std * factor).tobytes(), dtype=np.uint8)
        return data.reshape(rows, cols // size * nbytes)

    def vector(self, name, values):
        self.w.add_tensor(name, values.astype(np.float32))

    def ones(self, name, n):
        self.vector(name, np.ones(n))


def write_header(w, name, m, head_dim):
    w.add_name(name)
    w.add_context_length(4096)
    w.add_embedding_length(m.embd)
    w.add_block_count(m.layers)
    w.add_feed_forward_length(m.ff)
    w.add_head_count(m.heads)
    if m.arch != "lfm2":
        w.add_head_count_kv(m.kv_heads)
    w.add_layer_norm_rms_eps(1e-5)
    if m.heads:
        w.add_rope_dimension_count(head_dim)
        w.add_rope_freq_base(10000.0)
    w.add_vocab_size(m.vocab)
    w.add_file_type(7)
    if m.head_dim:
        w.add_key_length(head_dim)
        w.add_value_length(head_dim)
    if m.experts:
        w.add_expert_count(m.experts)
        w.add_expert_used_count(m.experts_used)
    if m.arch == "qwen2moe":
        w.add_expert_feed_forward_length(m.expert_ff)
        w.add_expert_shared_feed_forward_length(m.shared_ff)
    if m.arch == "gemma2":
        w.add_attn_logit_softcapping(50.0)
        w.add_final_logit_softcapping(30.0)
        w.add_sliding_window(128)
    if m.arch == "mamba":
        gen_mamba.write_header(w, m)
    if m.arch == "lfm2":
        gen_lfm2.write_header(w, m)
    (add_bpe_vocab if m.arch.startswith("qwen2") else add_spm_vocab)(w, m.vocab)


def write_layer(g, i, head_dim):
    m, p = g.m, f"blk.{i}."
    down = m.down if m.down is not None else m.weights
    gain = m.quiet_gain if m.quiet_from is not None and i >= m.quiet_from else 1.0
    # A layer's weights depend on (seed, layer) alone: models of one seed share their first layers.
    g.rng = np.random.default_rng(m.seed * 1000 + i)
    if m.arch == "mamba":
        return gen_mamba.write_layer(g, i)
    if m.arch == "lfm2":
        return gen_lfm2.write_layer(g, i, head_dim)
    g.ones(p + "attn_norm.weight", m.embd)
    g.ones(p + "ffn_norm.weight", m.embd)
    widths = {"q": m.heads * head_dim, "k": m.kv_heads * head_dim, "v": m.kv_heads * head_dim}
    for q, n in widths.items():
        g.matrix(f"{p}attn_{q}.weight", m.embd, n, down if q == "v" else None)
    g.matrix(p + "attn_output.weight", widths["q"], m.embd, gain=gain)
    if m.arch.startswith("qwen2"):
        for q, n in widths.items():
            g.vector(f"{p}attn_{q}.bias", g.values(n, 0.1))
    if m.arch == "gemma2":
        g.ones(p + "post_attention_norm.weight", m.embd)
        g.ones(p + "post_ffw_norm.weight", m.embd)
    if not m.experts:
        g.matrix(p + "ffn_gate.weight", m.embd, m.ff)
        g.matrix(p + "ffn_up.weight", m.embd, m.ff)
        g.matrix(p + "ffn_down.weight", m.ff, m.embd, down, gain=gain)
        return
    ff = m.expert_ff or m.ff
    g.matrix(p + "ffn_gate_inp.weight", m.embd, m.experts, T.F32, gain=2.0)
    g.matrix(p + "ffn_gate_exps.weight", m.embd, ff, experts=m.experts)
    g.matrix(p + "ffn_up_exps.weight", m.embd, ff, experts=m.experts)
    g.matrix(p + "ffn_down_exps.weight", ff, m.embd, down, experts=m.experts, gain=gain)
    if m.arch == "qwen2moe":
        g.vector(p + "ffn_gate_inp_shexp.weight", g.values(m.embd, 1 / np.sqrt(m.embd)))
        g.matrix(p + "ffn_gate_shexp.weight", m.embd, m.shared_ff)
        g.matrix(p + "ffn_up_shexp.weight", m.embd, m.shared_ff)
        g.matrix(p + "ffn_down_shexp.weight", m.shared_ff, m.embd, down, gain=gain)


def build(path, name, weights=None):
    m = MODELS[name]
    if weights:
        m = replace(m, weights=T[weights], down=None, output=None)
    g = Writer(path, m)
    head_dim = m.head_dim or (m.embd // m.heads if m.heads else None)
    write_header(g.w, name, m, head_dim)
    output = m.output if m.output is not None else m.weights
    g.matrix("token_embd.weight", m.embd, m.vocab, output, gain=m.embd_gain * np.sqrt(m.embd))
    if not m.tied:
        # a wide spread of logits: the greedy choice then survives the rounding of other CPUs
        g.matrix("output.weight", m.embd, m.vocab, output, gain=4.0)
    g.ones("token_embd_norm.weight" if m.arch == "lfm2" else "output_norm.weight", m.embd)
    for i in range(m.layers):
        write_layer(g, i, head_dim)
    g.w.write_header_to_file()
    g.w.write_kv_data_to_file()
    g.w.write_tensors_to_file()
    g.w.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", help="folder for NAME.gguf")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which models (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names and what they are")
    parser.add_argument("--weights", metavar="TYPE", choices=[t.name for t in (T.F32, T.F16, T.BF16, *SCALES)],
                        help="all matrices of this type instead of the model's own")
    args = parser.parse_args()
    if args.list:
        for name, m in MODELS.items():
            print(f"{name:14} {m.about}")
        return
    if not args.out:
        parser.error("which folder?")
    unknown = [n for n in args.names if n not in MODELS]
    if unknown:
        parser.error(f"no model called {', '.join(unknown)}; --list shows them all")
    for name in args.names or MODELS:
        path = os.path.join(args.out, name + ".gguf")
        build(path + ".part", name, args.weights)
        os.replace(path + ".part", path)
        print(f"    {name}: {os.path.getsize(path) / 1e6:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
