#!/usr/bin/env python3
"""Writes the small models with random weights that only the scenarios need, and an image.

    models.py DIR NAME...   (scripts/ is in PYTHONPATH)
"""
import os
import struct
import sys
import zlib
from dataclasses import replace

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

import gen_models
from archs.base import CONTEXT, File
from archs.encoder import norm
from gen_vocab import CONTROL, add_spm_vocab
from projectors import clip, merger, speech

# The target of all drafts here is spec-target.
TARGET = dict(embd=512, layers=1, vocab=2048)
TARGET_LAYERS, FF = [2, 6, 10], 1024


def bert_rank(path):
    """Two layers of an encoder with learned positions, and a head that gives one score."""
    f, heads, ff = File(path, "bert", embd=256, layers=2), 4, 512
    f.w.add_layer_norm_eps(1e-12)
    f.w.add_causal_attention(False)
    f.w.add_pooling_type(gguf.PoolingType.RANK)
    f.w.add_feed_forward_length(ff)
    f.w.add_head_count(heads)
    f.w.add_token_type_count(2)
    add_spm_vocab(f.w, f.vocab)
    f.matrix("token_embd.weight", f.embd, f.vocab)
    f.matrix("position_embd.weight", f.embd, CONTEXT, T.F32)
    f.matrix("token_types.weight", f.embd, 2, T.F32)
    norm(f, "token_embd_norm")
    for i in range(f.layers):
        p = f"blk.{i}."
        f.attention(p, heads, heads, f.embd // heads, biases=True)
        f.bias(p + "attn_output", f.embd)
        norm(f, p + "attn_output_norm")
        f.feed_forward(p, ff, gated=False)
        f.bias(p + "ffn_up", ff)
        f.bias(p + "ffn_down", f.embd)
        norm(f, p + "layer_output_norm")
    f.matrix("cls.weight", f.embd, f.embd, T.F32)
    f.bias("cls", f.embd)
    f.matrix("cls.output.weight", f.embd, 1, T.F32)
    f.bias("cls.output", 1)
    f.close()


def llada(path):
    """The shape of spec-draft as a model of diffusion, of which token 5 is the mask."""
    write_header = gen_models.write_header

    def header(w, *args):
        write_header(w, *args)
        w.add_mask_token_id(5)
        w.add_bool("diffusion.shift_logits", False)

    gen_models.write_header = header
    gen_models.MODELS["llada"] = replace(gen_models.MODELS["spec-draft"], arch="llada")
    gen_models.build(path, "llada")
    gen_models.write_header = write_header


def draft(path, arch):
    """Header of a draft that reads the states of three layers of the target."""
    f = File(path, arch, **TARGET)
    f.w.add_array(f"{arch}.target_layers", TARGET_LAYERS)
    f.w.add_layer_norm_rms_eps(1e-5)
    f.w.add_feed_forward_length(FF)
    f.heads(8, 4, 64)
    return f


def eagle3(path):
    f = draft(path, "eagle3")
    f.key("target_hidden_size", f.embd)
    f.ends()
    f.matrix("fc.weight", len(TARGET_LAYERS) * f.embd, f.embd)
    p = "blk.0."
    f.norms(p, "attn_norm attn_norm_2 ffn_norm")
    for q, n in (("q", 512), ("k", 256), ("v", 256)):
        f.matrix(f"{p}attn_{q}.weight", 2 * f.embd, n)
    f.matrix(p + "attn_output.weight", 512, f.embd)
    f.feed_forward(p, FF)
    f.close()


def dflash(path, corrected=False):
    """A block of 8 tokens per call; `corrected` by the token before each of them."""
    f = draft(path, "dflash")
    f.key("block_size", 8)
    f.w.add_mask_token_id(5)
    f.ends()
    f.norms("enc.", "output_norm")
    f.matrix("fc.weight", len(TARGET_LAYERS) * f.embd, f.embd)
    if corrected:
        for name in ("markov_w1", "markov_w2"):
            f.matrix(name + ".weight", 64, f.vocab)
    p = "blk.0."
    f.norms(p, "attn_norm ffn_norm")
    f.norms(p, "attn_q_norm attn_k_norm", 64)
    f.attention(p, 8, 4, 64)
    f.feed_forward(p, FF)
    f.close()


def backbone(path):
    """The language model of pocket-tts: it reads a text, and its states, not its tokens, are the speech."""
    f, ff, last = File(path, "pockettts", embd=256, layers=2, vocab=1024), 512, "<|audio_bos|>"
    f.w.add_layer_norm_eps(1e-5)
    f.w.add_feed_forward_length(ff)
    f.heads(4, 4, 64)
    # The last filler of the vocabulary becomes the token that begins the speech.
    tokens, types = f.w.add_token_list, f.w.add_token_types
    f.w.add_token_list = lambda all_: tokens([*all_[:-1], last])
    f.w.add_token_types = lambda all_: types([*all_[:-1], CONTROL])
    f.ends(tied=True)
    f.bias("output_norm", f.embd)
    for i in range(f.layers):
        p = f"blk.{i}."
        norm(f, p + "attn_norm")
        norm(f, p + "ffn_norm")
        f.attention(p, 4, 4, 64)
        f.feed_forward(p, ff, gated=False)
    f.close()


def image(path):
    """64 × 64 pixels of two gradients, as PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(v for x in range(64) for v in (4 * x, 4 * y, 4 * y)) for y in range(64))
    header = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunks)


MODELS = {"bert-rank": bert_rank, "llada": llada, "eagle3": eagle3, "dflash": dflash,
          "dspark": lambda path: dflash(path, corrected=True), "clip": clip, "merger": merger,
          "pockettts": backbone, "speech": speech}


def main(folder, *names):
    image(os.path.join(folder, "image.png"))
    for name in names:
        path = os.path.join(folder, name + ".gguf")
        MODELS[name](path + ".part")
        os.replace(path + ".part", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
