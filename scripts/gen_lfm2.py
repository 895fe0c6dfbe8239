"""The tensors of an lfm2 model, a hybrid: most layers are short convolutions with a state, every third one attends."""
from gguf import GGMLQuantizationType as T

CONV = 3  # width of the convolution


def attends(i):
    return i % 3 == 2


def write_header(w, m):
    # A layer without heads of the cache has no attention.
    w.add_head_count_kv([m.kv_heads if attends(i) else 0 for i in range(m.layers)])
    w.add_shortconv_l_cache(CONV)


def write_layer(g, i, head_dim):
    m, p = g.m, f"blk.{i}."
    g.ones(p + "attn_norm.weight", m.embd)
    g.ones(p + "ffn_norm.weight", m.embd)
    g.matrix(p + "ffn_gate.weight", m.embd, m.ff)
    g.matrix(p + "ffn_up.weight", m.embd, m.ff)
    g.matrix(p + "ffn_down.weight", m.ff, m.embd)
    if not attends(i):
        g.matrix(p + "shortconv.conv.weight", CONV, m.embd, T.F32)
        g.matrix(p + "shortconv.in_proj.weight", m.embd, 3 * m.embd)
        g.matrix(p + "shortconv.out_proj.weight", m.embd, m.embd)
        return
    g.matrix(p + "attn_q.weight", m.embd, m.embd)
    g.matrix(p + "attn_k.weight", m.embd, m.kv_heads * head_dim)
    g.matrix(p + "attn_v.weight", m.embd, m.kv_heads * head_dim)
    g.matrix(p + "attn_output.weight", m.embd, m.embd)
    g.ones(p + "attn_q_norm.weight", head_dim)
    g.ones(p + "attn_k_norm.weight", head_dim)
