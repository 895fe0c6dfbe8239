"""Decoders whose layers all attend."""
import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

from .base import File, model


@model("gemma3n", "4 layers, per-layer embeddings, four parallel streams (AltUp), low-rank LAuReL")
def gemma3n(path):
    per_layer, streams, rank, dim, heads, kv_heads = 256, 4, 64, 64, 8, 2
    f = File(path, "gemma3n", embd=512, layers=4, vocab=16000)
    f.heads(heads, kv_heads, dim)
    f.w.add_layer_norm_rms_eps(1e-6)
    f.w.add_feed_forward_length(2048)
    f.w.add_sliding_window(512)
    f.key("embedding_length_per_layer_input", per_layer)
    f.key("altup.num_inputs", streams)
    f.key("altup.active_idx", 0)
    f.key("final_logit_softcapping", 30.0)
    f.ends(tied=True, gain=0.5)
    for name in ("altup_proj", "altup_unembd_proj"):
        f.matrix(name + ".weight", f.embd, f.embd, T.F16, experts=streams - 1)
    f.matrix("per_layer_token_embd.weight", per_layer * f.layers, f.vocab)
    f.matrix("per_layer_model_proj.weight", f.embd, per_layer * f.layers, T.F16)
    f.norms("", "per_layer_proj_norm", per_layer)
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm post_attention_norm ffn_norm post_ffw_norm post_norm altup_correct_scale "
                   "altup_router_norm laurel_post_norm")
        f.norms(p, "attn_q_norm attn_k_norm", dim)
        f.attention(p, heads, kv_heads, dim)
        f.feed_forward(p, 2048)
        f.matrix(p + "inp_gate.weight", f.embd, per_layer)
        f.matrix(p + "proj.weight", per_layer, f.embd)
        f.matrix(p + "altup_correct_coef.weight", streams, streams, T.F32)
        f.matrix(p + "altup_predict_coef.weight", streams, streams * streams, T.F32)
        f.matrix(p + "altup_router.weight", f.embd, streams, T.F32)
        f.matrix(p + "laurel_l.weight", f.embd, rank)
        f.matrix(p + "laurel_r.weight", rank, f.embd)
    f.close()


@model("gemma4", "6 layers, per-layer embeddings; heads of two sizes; the last two use the cache of others")
def gemma4(path, per_layer=128):
    heads, kv_heads, full, window = 8, 2, 128, 64
    f = File(path, "gemma4", embd=768, layers=6, vocab=16000)
    # The last layers use the cache of the last two that have one: one with a window, one without.
    windowed = [i % 2 == 0 for i in range(f.layers)]
    f.heads(heads, kv_heads, full)
    f.w.add_layer_norm_rms_eps(1e-6)
    f.w.add_feed_forward_length(2048)
    gemma4_header(f, windowed, window)
    f.key("attention.shared_kv_layers", 2)
    f.key("embedding_length_per_layer_input", per_layer)
    f.ends(tied=True, gain=0.5)
    f.matrix("per_layer_token_embd.weight", per_layer * f.layers, f.vocab)
    f.matrix("per_layer_model_proj.weight", f.embd, per_layer * f.layers, T.F16)
    f.norms("", "per_layer_proj_norm", per_layer)
    f.vector("rope_freqs.weight", np.ones(full // 2))
    for i in range(f.layers):
        p, dim = f"blk.{i}.", window if windowed[i] else full
        f.norms(p, "attn_norm post_attention_norm ffn_norm post_ffw_norm post_norm")
        f.norms(p, "attn_q_norm attn_k_norm", dim)
        f.vector(p + "layer_output_scale.weight", np.ones(1))
        f.attention(p, heads, kv_heads, dim)
        f.feed_forward(p, 2048)
        f.matrix(p + "inp_gate.weight", f.embd, per_layer)
        f.matrix(p + "proj.weight", per_layer, f.embd)
    f.close()


@model("gemma4-rows", "gemma4 with 157 MB of per-layer embeddings, of which a token needs one row")
def gemma4_rows(path):
    gemma4(path, per_layer=1536)


@model("gemma4-moe", "4 layers, 16 experts (4 used) next to a network for all; without a window, keys are values")
def gemma4_moe(path):
    heads, kv_heads, full, window, ff = 8, 2, 128, 64, 256
    f = File(path, "gemma4", embd=768, layers=4, vocab=16000)
    windowed = [i % 2 == 0 for i in range(f.layers)]
    f.heads(heads, kv_heads, full)
    f.w.add_layer_norm_rms_eps(1e-6)
    f.w.add_feed_forward_length(1024)
    f.w.add_expert_count(16)
    f.w.add_expert_used_count(4)
    f.w.add_expert_feed_forward_length(ff)
    gemma4_header(f, windowed, window)
    f.key("embedding_length_per_layer_input", 0)
    f.ends(tied=True, gain=0.5)
    f.vector("rope_freqs.weight", np.ones(full // 2))
    for i in range(f.layers):
        p, dim = f"blk.{i}.", window if windowed[i] else full
        f.norms(p, "attn_norm post_attention_norm ffn_norm post_ffw_norm")
        f.norms(p, "post_ffw_norm_1 post_ffw_norm_2 pre_ffw_norm_2")
        f.norms(p, "attn_q_norm attn_k_norm", dim)
        f.vector(p + "layer_output_scale.weight", np.ones(1))
        f.attention(p, heads, kv_heads, dim, values=windowed[i])
        f.feed_forward(p, 1024)
        f.matrix(p + "ffn_gate_inp.weight", f.embd, 16, T.F32, gain=2.0)
        f.vector(p + "ffn_gate_inp.scale", np.ones(f.embd))
        f.matrix(p + "ffn_gate_up_exps.weight", f.embd, 2 * ff, experts=16)
        f.matrix(p + "ffn_down_exps.weight", ff, f.embd, experts=16)
        f.vector(p + "ffn_down_exps.scale", np.ones(16))
    f.close()


def gemma4_header(f, windowed, dim):
    f.w.add_sliding_window(512)
    f.w.add_array("gemma4.attention.sliding_window_pattern", windowed)
    f.key("attention.key_length_swa", dim)
    f.key("attention.value_length_swa", dim)
    f.key("rope.dimension_count_swa", dim)
    f.key("rope.freq_base_swa", 10000.0)
    f.key("final_logit_softcapping", 30.0)


@model("deepseek2", "5 layers with latent attention (MLA); 4 of them with 16 experts (4 used) and a shared one")
def deepseek2(path):
    heads, queries, latent, rope, nope, value, ff = 12, 384, 256, 32, 64, 64, 256
    f = File(path, "deepseek2", embd=768, layers=5)
    f.w.add_head_count(heads)
    f.w.add_head_count_kv(1)
    f.w.add_key_length(latent + rope)
    f.w.add_value_length(latent)
    f.w.add_key_length_mla(nope + rope)
    f.w.add_value_length_mla(value)
    f.w.add_rope_dimension_count(rope)
    f.w.add_rope_freq_base(10000.0)
    f.w.add_layer_norm_rms_eps(1e-6)
    f.w.add_q_lora_rank(queries)
    f.w.add_kv_lora_rank(latent)
    f.w.add_feed_forward_length(2048)
    f.w.add_leading_dense_block_count(1)
    f.w.add_expert_count(16)
    f.w.add_expert_used_count(4)
    f.w.add_expert_feed_forward_length(ff)
    f.w.add_expert_shared_count(1)
    f.w.add_expert_weights_scale(1.0)
    f.w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    f.ends()
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm ffn_norm")
        f.norms(p, "attn_q_a_norm", queries)
        f.norms(p, "attn_kv_a_norm", latent)
        f.matrix(p + "attn_q_a.weight", f.embd, queries)
        f.matrix(p + "attn_q_b.weight", queries, heads * (nope + rope))
        f.matrix(p + "attn_kv_a_mqa.weight", f.embd, latent + rope)
        f.matrix(p + "attn_k_b.weight", nope, latent, experts=heads)
        f.matrix(p + "attn_v_b.weight", latent, value, experts=heads)
        f.matrix(p + "attn_output.weight", heads * value, f.embd)
        if i == 0:
            f.feed_forward(p, 2048)
            continue
        f.experts(p, ff, 16)
        f.bias(p + "exp_probs_b", 16)
        f.feed_forward(p, ff, suffix="_shexp")
    f.close()


@model("gpt-oss", "4 layers, 16 experts (4 used) in MXFP4 with biases; sinks; every second layer has a window")
def gpt_oss(path):
    heads, kv_heads, dim = 12, 4, 64
    f = File(path, "gpt-oss", embd=768, layers=4)
    f.heads(heads, kv_heads, dim)
    f.w.add_layer_norm_rms_eps(1e-5)
    f.w.add_sliding_window(128)
    f.w.add_feed_forward_length(768)
    f.w.add_expert_feed_forward_length(768)
    f.w.add_expert_count(16)
    f.w.add_expert_used_count(4)
    f.ends()
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm post_attention_norm")
        f.attention(p, heads, kv_heads, dim, biases=True)
        f.bias(p + "attn_output", f.embd)
        f.vector(p + "attn_sinks.weight", f.values(heads, 1.0))
        f.experts(p, 768, 16, dtype=T.MXFP4, biases=True)
    f.close()


@model("qwen2vl", "4 layers, rotations by sections (M-RoPE), biases; the text part")
def qwen2vl(path):
    heads, kv_heads, dim = 8, 2, 128
    f = File(path, "qwen2vl", embd=1024, layers=4)
    f.heads(heads, kv_heads, dim)
    f.w.add_rope_dimension_sections([16, 24, 24, 0])
    f.w.add_layer_norm_rms_eps(1e-6)
    f.w.add_feed_forward_length(2048)
    f.ends()
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm ffn_norm")
        f.attention(p, heads, kv_heads, dim, biases=True)
        f.feed_forward(p, 2048)
    f.close()


LORA = dict(embd=768, layers=4)
LORA_FF, LORA_RANK = 2048, 32


@model("lora", "llama, 4 layers, and an adapter of rank 32 for all of its projections")
def llama(path):
    f = File(path, "llama", **LORA)
    f.heads(12, 4, 64)
    f.w.add_layer_norm_rms_eps(1e-5)
    f.w.add_feed_forward_length(LORA_FF)
    f.ends()
    for i in range(f.layers):
        p = f"blk.{i}."
        f.norms(p, "attn_norm ffn_norm")
        f.attention(p, 12, 4, 64)
        f.feed_forward(p, LORA_FF)
    f.close()


@model("lora", "", suffix=".lora.gguf")
def adapter(path):
    f = File(path, "llama", seed=2, **LORA)
    f.w.add_type(gguf.GGUFType.ADAPTER)
    f.w.add_string(gguf.Keys.Adapter.TYPE, "lora")
    f.w.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(LORA_RANK))
    embd, wide = LORA["embd"], LORA_FF
    shapes = {"attn_q": (embd, 768), "attn_k": (embd, 256), "attn_v": (embd, 256), "attn_output": (768, embd),
              "ffn_gate": (embd, wide), "ffn_up": (embd, wide), "ffn_down": (wide, embd)}
    for i in range(f.layers):
        for name, (cols, rows) in shapes.items():
            f.matrix(f"blk.{i}.{name}.weight.lora_a", cols, LORA_RANK, T.F16)
            f.matrix(f"blk.{i}.{name}.weight.lora_b", LORA_RANK, rows, T.F16, gain=0.1)
    f.close()
