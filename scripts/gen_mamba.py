"""The tensors of a mamba model: no attention, but a state for each sequence, which the engine's graph passes on by nodes without elements."""
import numpy as np
from gguf import GGMLQuantizationType as T

CONV = 4    # width of the convolution
STATE = 16  # values of the state for each inner channel
RANK = 16   # of the time step


def write_header(w, m):
    w.add_ssm_conv_kernel(CONV)
    w.add_ssm_inner_size(2 * m.embd)
    w.add_ssm_state_size(STATE)
    w.add_ssm_time_step_rank(RANK)


def write_layer(g, i):
    m, p = g.m, f"blk.{i}."
    inner = 2 * m.embd
    g.ones(p + "attn_norm.weight", m.embd)
    g.matrix(p + "ssm_in.weight", m.embd, 2 * inner)
    g.matrix(p + "ssm_conv1d.weight", CONV, inner, T.F32)
    g.vector(p + "ssm_conv1d.bias", g.values(inner, 0.1))
    g.matrix(p + "ssm_x.weight", inner, RANK + 2 * STATE)
    g.matrix(p + "ssm_dt.weight", RANK, inner, T.F32)
    g.vector(p + "ssm_dt.bias", g.values(inner, 0.1))
    # A negative number: the state fades.
    g.vector(p + "ssm_a", -np.abs(g.values((inner, STATE), 1.0)) - 0.5)
    g.vector(p + "ssm_d", g.values(inner, 1.0))
    g.matrix(p + "ssm_out.weight", inner, m.embd)
