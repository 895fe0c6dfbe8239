"""Layers with a state of fixed size in the place of a KV cache: state spaces, gated delta net, RWKV."""
import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

from .base import File, model

CONV, SHORT = 4, 3  # width of the convolutions; of those of lfm2
DELTA = 64, 4, 16  # of gated delta nets: size of a head, heads of queries and keys, heads of values


def state_space_header(f, *, inner, state, heads, groups):
    f.w.add_ssm_conv_kernel(CONV)
    f.w.add_ssm_inner_size(inner)
    f.w.add_ssm_state_size(state)
    f.w.add_ssm_time_step_rank(heads)
    f.w.add_ssm_group_count(groups)


def state_space(f, p, *, inner, state, heads, groups):
    """The layer of Mamba 2: one decay per head; B and C are shared by the heads of a group."""
    mixed = inner + 2 * groups * state
    f.matrix(p + "ssm_in.weight", f.embd, inner + mixed + heads)
    f.matrix(p + "ssm_conv1d.weight", CONV, mixed, T.F32)
    f.bias(p + "ssm_conv1d", mixed)
    f.bias(p + "ssm_dt", heads)
    # A negative number: the state fades.
    f.vector(p + "ssm_a", -np.abs(f.values((heads, 1), 1.0)) - 0.5)
    f.vector(p + "ssm_d", f.values((heads, 1), 1.0))
    f.vector(p + "ssm_norm.weight", np.ones((groups, inner // groups)))
    f.matrix(p + "ssm_out.weight", inner, f.embd)


@model("mamba2", "5 layers of Mamba 2, 24 heads with a state of 128")
def mamba2(path):
    shape = dict(inner=1536, state=128, heads=24, groups=1)
    f = File(path, "mamba2", embd=768, layers=5)
    f.w.add_head_count(0)
    f.w.add_feed_forward_length(0)
    f.w.add_layer_norm_rms_eps(1e-5)
    state_space_header(f, **shape)
    f.ends()
    for i in range(f.layers):
        f.norms(f"blk.{i}.", "attn_norm")
        state_space(f, f"blk.{i}.", **shape)
    f.close()


@model("granitehybrid", "6 layers, Mamba 2 or (2 of 6) attention, with 16 experts (4 used) and a shared one")
def granitehybrid(path):
    shape = dict(inner=1024, state=128, heads=16, groups=1)
    f = File(path, "granitehybrid", embd=512, layers=6)
    attends = [i % 3 == 2 for i in range(f.layers)]
    f.heads(8, [2 if a else 0 for a in attends], 64)
    f.w.add_rope_scaling_finetuned(False)  # granite 4 has no rotary embedding
    f.w.add_layer_norm_rms_eps(1e-5)
    f.w.add_feed_forward_length(256)
    f.w.add_expert_count(16)
    f.w.add_expert_used_count(4)
    f.w.add_expert_shared_feed_forward_length(512)
    state_space_header(f, **shape)
    f.ends(tied=True, gain=1.0)
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm ffn_norm")
        if attends[i]:
            f.attention(p, 8, 2, 64)
        else:
            state_space(f, p, **shape)
        f.experts(p, 256, 16)
        f.feed_forward(p, 512, suffix="_shexp")
    f.close()


@model("nemotron_h", "6 layers, each Mamba 2, attention or a feed-forward network without a gate")
def nemotron_h(path):
    shape = dict(inner=1536, state=128, heads=24, groups=8)
    kinds, ff = "MFMAFM", 3072
    f = File(path, "nemotron_h", embd=768, layers=len(kinds))
    f.heads(12, [4 if k == "A" else 0 for k in kinds], 64)
    f.w.add_feed_forward_length([ff if k == "F" else 0 for k in kinds])
    f.w.add_layer_norm_eps(1e-5)
    f.w.add_layer_norm_rms_eps(1e-5)
    state_space_header(f, **shape)
    f.ends()
    for i, kind in enumerate(kinds):
        p = f"blk.{i}."
        f.norms(p, "attn_norm")
        if kind == "A":
            f.attention(p, 12, 4, 64)
        elif kind == "F":
            f.feed_forward(p, ff, gated=False)
        else:
            state_space(f, p, **shape)
    f.close()


@model("qwen35", "4 layers, 3 of them gated delta net; one more for multi-token prediction, not used")
def qwen35(path):
    f = File(path, "qwen35", embd=1024, layers=5)
    f.w.add_feed_forward_length(2048)
    qwen35_layers(f, lambda p: f.feed_forward(p, 2048))


@model("qwen35moe", "the same with 32 experts (4 used) and a shared one")
def qwen35moe(path):
    f = File(path, "qwen35moe", embd=512, layers=5)
    qwen35_layers(f, experts_and_a_shared_one(f))


@model("qwen3next", "4 layers, 3 of them gated delta net with one matrix for both gates; 32 experts (4 used) and a shared one")
def qwen3next(path):
    f = File(path, "qwen3next", embd=512, layers=4)
    experts = experts_and_a_shared_one(f)
    delta_net_header(f)
    f.ends()
    for i in range(f.layers):
        delta_net_layer(f, i, i % 4 == 3, experts, gates="ssm_ba")
    f.close()


def experts_and_a_shared_one(f):
    """Writes the header; returns what adds the feed-forward network of a layer."""
    f.w.add_expert_count(32)
    f.w.add_expert_used_count(4)
    f.w.add_expert_feed_forward_length(256)
    f.w.add_expert_shared_feed_forward_length(512)

    def experts(p):
        f.experts(p, 256, 32)
        f.vector(p + "ffn_gate_inp_shexp.weight", f.values(f.embd, 1 / np.sqrt(f.embd)))
        f.feed_forward(p, 512, suffix="_shexp")

    return experts


def delta_net_header(f):
    size, key_heads, value_heads = DELTA
    f.heads(8, 2, 64, rope=32)
    f.w.add_layer_norm_rms_eps(1e-5)
    state_space_header(f, inner=size * value_heads, state=size, heads=value_heads, groups=key_heads)
    f.key("full_attention_interval", 4)


def delta_net_layer(f, i, attends, feed_forward, gates):
    """A layer of a hybrid: attention or gated delta net, and what follows."""
    p = f"blk.{i}."
    f.norms(p, "attn_norm post_attention_norm")
    if attends:
        f.attention(p, 8, 2, 64, gate=2)
        f.norms(p, "attn_q_norm attn_k_norm", 64)
    else:
        delta_net(f, p, gates)
    feed_forward(p)


def qwen35_layers(f, feed_forward):
    """All of the file but the feed-forward networks. Every fourth layer attends, and the one after the last."""
    last = f.layers - 1
    delta_net_header(f)
    f.w.add_rope_dimension_sections([8, 4, 4, 0])
    f.key("nextn_predict_layers", 1)
    f.ends()
    for i in range(f.layers):
        delta_net_layer(f, i, i == last or i % 4 == 3, feed_forward, gates="ssm_beta ssm_alpha")
    p = f"blk.{last}.nextn."
    f.matrix(p + "eh_proj.weight", 2 * f.embd, f.embd)
    f.norms(p, "enorm hnorm shared_head_norm")
    f.close()


def delta_net(f, p, gates):
    """Gated delta net: queries and keys of some heads, values and states of more. `gates`: matrices of a decay and a gate for each."""
    size, key_heads, value_heads = DELTA
    mixed = size * (2 * key_heads + value_heads)
    f.matrix(p + "attn_qkv.weight", f.embd, mixed)
    f.matrix(p + "attn_gate.weight", f.embd, size * value_heads)
    f.matrix(p + "ssm_conv1d.weight", CONV, mixed, T.F32)
    f.bias(p + "ssm_dt", value_heads)
    f.vector(p + "ssm_a", -np.abs(f.values(value_heads, 1.0)))
    names = gates.split()
    for name in names:
        f.matrix(p + name + ".weight", f.embd, 2 * value_heads // len(names), T.F32)
    f.norms(p, "ssm_norm", size)
    f.matrix(p + "ssm_out.weight", size * value_heads, f.embd)


@model("falcon-h1", "4 layers, each with Mamba 2 and attention side by side")
def falcon_h1(path):
    shape = dict(inner=1024, state=128, heads=16, groups=1)
    f = File(path, "falcon-h1", embd=768, layers=4)
    f.heads(8, 2, 64)
    f.w.add_layer_norm_rms_eps(1e-5)
    f.w.add_feed_forward_length(2048)
    state_space_header(f, **shape)
    f.ends()
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm")
        f.ones(p + "ffn_norm", f.embd)  # the engine looks for it without a suffix
        f.attention(p, 8, 2, 64)
        state_space(f, p, **shape)
        f.feed_forward(p, 2048)
    f.close()


@model("lfm2moe", "6 layers, short convolutions or (2 of 6) attention; 4 with 16 experts (4 used)")
def lfm2moe(path):
    ff, dense = 384, 2
    f = File(path, "lfm2moe", embd=768, layers=6)
    attends = [i % 3 == 2 for i in range(f.layers)]
    f.heads(12, [4 if a else 0 for a in attends], 64)
    f.w.add_layer_norm_rms_eps(1e-5)
    f.w.add_feed_forward_length(2048)
    f.w.add_shortconv_l_cache(SHORT)
    f.w.add_leading_dense_block_count(dense)
    f.w.add_expert_count(16)
    f.w.add_expert_used_count(4)
    f.w.add_expert_feed_forward_length(ff)
    f.w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    f.ends(tied=True, gain=1.0, norm="token_embd_norm")
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm ffn_norm")
        if attends[i]:
            f.attention(p, 12, 4, 64)
            f.norms(p, "attn_q_norm attn_k_norm", 64)
        else:
            f.matrix(p + "shortconv.conv.weight", SHORT, f.embd, T.F32)
            f.matrix(p + "shortconv.in_proj.weight", f.embd, 3 * f.embd)
            f.matrix(p + "shortconv.out_proj.weight", f.embd, f.embd)
        if i < dense:
            f.feed_forward(p, 2048)
        else:
            f.experts(p, ff, 16)
            f.bias(p + "exp_probs_b", 16)
    f.close()


RANKS = {"w": 64, "a": 64, "v": 32, "g": 128}  # of rwkv7's low-rank products


@model("rwkv7", "5 layers of RWKV 7, 12 heads")
def rwkv7(path):
    f = File(path, "rwkv7", embd=768, layers=5)
    f.w.add_head_count(0)
    f.w.add_feed_forward_length(3072)
    f.w.add_layer_norm_eps(1e-5)
    f.w.add_wkv_head_size(64)
    f.w.add_decay_lora_rank(RANKS["w"])
    f.w.add_iclr_lora_rank(RANKS["a"])
    f.w.add_value_residual_mix_lora_rank(RANKS["v"])
    f.w.add_gate_lora_rank(RANKS["g"])
    f.ends()
    f.bias("output_norm", f.embd, 0.01)
    f.norms("", "token_embd_norm")
    f.bias("token_embd_norm", f.embd, 0.01)
    for i in range(f.layers):
        rwkv7_layer(f, f"blk.{i}.", i)
    f.close()


def rwkv7_layer(f, p, i):
    for name in ("attn_norm", "attn_norm_2", "time_mix_ln"):
        f.ones(f"{p}{name}.weight", f.embd)
        f.bias(p + name, f.embd, 0.01)
    for name, rank in RANKS.items():
        # The engine loads these of the first layer, as wide as those of `a`, and does not use them.
        rank = RANKS["a"] if name == "v" and i == 0 else rank
        if name != "g":
            f.vector(f"{p}time_mix_{name}0.weight", f.values(f.embd, 0.5))
        f.matrix(f"{p}time_mix_{name}1.weight", f.embd, rank)
        f.matrix(f"{p}time_mix_{name}2.weight", rank, f.embd)
    f.vector(p + "time_mix_lerp_fused.weight", f.values((6, 1, 1, f.embd), 0.3))
    f.vector(p + "channel_mix_lerp_k.weight", f.values((1, 1, f.embd), 0.3))
    for name in ("k_k", "k_a", "r_k"):
        f.vector(f"{p}time_mix_{name}.weight", f.values(f.embd, 0.3))
    for name in ("key", "value", "receptance", "output"):
        f.matrix(f"{p}time_mix_{name}.weight", f.embd, f.embd)
    f.matrix(p + "channel_mix_key.weight", f.embd, 3072)
    f.matrix(p + "channel_mix_value.weight", 3072, f.embd)
