"""Encoders, with or without a decoder."""
import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

from gen_vocab import add_spm_vocab

from .base import CONTEXT, File, model


@model("bert", "4 layers of an encoder with learned positions, mean pooling")
def bert(path):
    ff = 3072
    f = File(path, "bert", embd=768, layers=4)
    f.w.add_layer_norm_eps(1e-12)
    f.w.add_causal_attention(False)
    f.w.add_pooling_type(gguf.PoolingType.MEAN)
    f.w.add_feed_forward_length(ff)
    f.w.add_head_count(12)
    f.w.add_token_type_count(2)
    add_spm_vocab(f.w, f.vocab)
    f.matrix("token_embd.weight", f.embd, f.vocab, gain=np.sqrt(f.embd))
    f.matrix("position_embd.weight", f.embd, CONTEXT, T.F32)
    f.matrix("token_types.weight", f.embd, 2, T.F32)
    norm(f, "token_embd_norm")
    for i in range(f.layers):
        p = f"blk.{i}."
        f.attention(p, 12, 12, 64, biases=True)
        f.bias(p + "attn_output", f.embd)
        norm(f, p + "attn_output_norm")
        f.feed_forward(p, ff, gated=False)
        f.bias(p + "ffn_up", ff)
        f.bias(p + "ffn_down", f.embd)
        norm(f, p + "layer_output_norm")
    f.close()


def norm(f, name):
    f.ones(name + ".weight", f.embd)
    f.bias(name, f.embd, 0.01)


@model("t5", "an encoder of 4 layers and a decoder of 4 that attends to it")
def t5(path):
    heads, dim, ff, buckets = 12, 64, 2048, 32
    f = File(path, "t5", embd=768, layers=4)
    f.w.add_head_count(heads)
    f.w.add_key_length(dim)
    f.w.add_value_length(dim)
    f.w.add_layer_norm_rms_eps(1e-6)
    f.w.add_feed_forward_length(ff)
    f.w.add_decoder_start_token_id(1)
    f.w.add_relative_attn_buckets_count(buckets)
    add_spm_vocab(f.w, f.vocab)
    f.matrix("token_embd.weight", f.embd, f.vocab, gain=np.sqrt(f.embd))
    f.matrix("output.weight", f.embd, f.vocab, gain=4.0)
    for part in ("enc", "dec"):
        f.norms(part + ".", "output_norm")
        f.matrix(f"{part}.blk.0.attn_rel_b.weight", heads, buckets, T.F32)
        for i in range(f.layers):
            p = f"{part}.blk.{i}."
            f.norms(p, "attn_norm ffn_norm")
            projections(f, p + "attn_", heads * dim)
            f.feed_forward(p, ff)
            if part == "dec":
                f.norms(p, "cross_attn_norm")
                projections(f, p + "cross_attn_", heads * dim)
    f.close()


def projections(f, prefix, width):
    for name in "qkv":
        f.matrix(f"{prefix}{name}.weight", f.embd, width)
    f.matrix(prefix + "o.weight", width, f.embd)
