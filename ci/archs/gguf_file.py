"""What a GGUF file states, and what the engine reads of it for a call: the rules of llama.cpp's graphs.

Nothing here is taken from ProfInfer. A tensor counts as often as operators of a call read it, which
is once except for the few that `READS` names.
"""
import re
from dataclasses import dataclass

import gguf

HALF, SINGLE = 2, 4  # bytes of an element: of the KV cache, of a recurrent state
CELL_STEP = 256      # without flash attention, products read the cells up to a multiple of it
EXPERTS = re.compile(r"_exps\.(weight|bias|scale)$")
# Looked up by row, or added, multiplied and convolved: no matrices of a product.
NO_PRODUCT = re.compile(r"^(token_embd|per_layer_token_embd|position_embd|token_types)\.|attn_rel_b|"
                        r"ssm_(conv1d|a$|d$|norm)|shortconv\.conv\.|lerp|\.bias$")
LAYER = re.compile(r"^(?:(enc|dec)\.)?blk\.(\d+)\.(.*)$")
# gemma3n computes the weights of its streams twice per layer, for the prediction and the correction.
# falcon-h1 normalizes once for the attention and once for the state space.
READS = {"gemma3n": {"altup_router.weight": 2, "altup_router_norm.weight": 2},
         "falcon-h1": {"attn_norm.weight": 2}}


@dataclass
class Need:
    """What a call has to read and compute."""
    weights: int = 0
    cache: int = 0
    operations: int = 0


class Gguf:
    """A model, with its adapter."""

    def __init__(self, path, adapter=None):
        self.reader = gguf.GGUFReader(path)
        self.tensors = {t.name: t for t in self.reader.tensors}
        self.lora = list(gguf.GGUFReader(adapter).tensors) if adapter else []
        self.arch = self.reader.get_field("general.architecture").contents()
        self.layers = self.key("block_count") - self.key("nextn_predict_layers", 0)

    def key(self, name, default=None):
        field = self.reader.get_field(f"{self.arch}.{name}")
        return default if field is None else field.contents()

    def matrix(self, i, name):
        return self.tensors.get(f"blk.{i}.{name}.weight")

    # Weights and products

    def need(self, tokens, cells, part=""):
        """A call of `tokens` tokens whose last one attends to `cells` cells. `part`: of t5."""
        need = Need(cache=self.cache(cells, part))
        for tensor in self.tensors.values():
            share = self.share(tensor, part)
            need.weights += round(self.rows(tensor, tokens, cells, part) * share)
            need.operations += round(2 * self.parameters(tensor) * share) * self.columns(tensor, tokens, part)
        for tensor in self.lora:
            need.weights += int(tensor.n_bytes)
            need.operations += 2 * int(tensor.n_elements) * tokens
        return need

    def share(self, tensor, part):
        """How much of a tensor the engine's graph uses: 0, 1, a share of the experts, or twice all."""
        layer = LAYER.match(tensor.name)
        if part and tensor.name.startswith(("enc.", "dec.")) and not tensor.name.startswith(part):
            return 0
        if part == "enc." and tensor.name == "output.weight":
            return 0
        if not layer:
            return 1
        i, name = int(layer[2]), layer[3]
        if i >= self.layers or self.unused(i, name):
            return 0
        if EXPERTS.search(name):
            return self.key("expert_used_count") / self.key("expert_count")
        return READS.get(self.arch, {}).get(name, 1)

    def unused(self, i, name):
        """Tensors that the engine loads and no graph reads."""
        if self.arch == "rwkv7":  # no values of a layer before the first
            return i == 0 and name.startswith("time_mix_v") and name[len("time_mix_v")].isdigit()
        # A layer that attends to the cache of another has keys and values in some files, of no use.
        return i >= self.layers - self.key("attention.shared_kv_layers", 0) and \
            re.match(r"attn_(k|v|k_norm)\.", name)

    def rows(self, tensor, tokens, cells, part):
        """Bytes that are read of a tensor."""
        rows = max(int(tensor.shape[-1]), 1)
        row = int(tensor.n_bytes) // rows
        if tensor.name == "token_embd.weight":
            return row * tokens + (int(tensor.n_bytes) if self.tied(tensor) else 0)
        if tensor.name in ("per_layer_token_embd.weight", "position_embd.weight"):
            return row * tokens
        if tensor.name == "token_types.weight":  # always type 0
            return row
        if "attn_rel_b" in tensor.name:  # one look-up per layer; all layers use the first one's table
            seen = tokens * (tokens if part == "enc." else stepped(cells))
            return row * min(rows, seen) * self.layers
        if tensor.name == "rope_freqs.weight":  # read for queries and for keys
            own = self.layers - self.key("attention.shared_kv_layers", 0)
            full = [i for i, window in enumerate(self.key("attention.sliding_window_pattern")) if not window]
            return int(tensor.n_bytes) * (len(full) + sum(i < own for i in full))
        return int(tensor.n_bytes)

    def parameters(self, tensor):
        """Elements of the matrix of a product; 0 for other tensors."""
        vector = len(tensor.shape) < 2 and not tensor.name.endswith("ffn_gate_inp_shexp.weight")
        if vector or (NO_PRODUCT.search(tensor.name) and not self.tied(tensor)):
            return 0
        return int(tensor.n_elements)

    def tied(self, tensor):
        """The embeddings are also the output. An encoder of embeddings has none."""
        return tensor.name == "token_embd.weight" and "output.weight" not in self.tensors and self.arch != "bert"

    def columns(self, tensor, tokens, part):
        """Vectors that a matrix is multiplied with. For each token, a decoder projects all of the encoder's output."""
        if part == "dec." and re.search(r"cross_attn_[kv]\.", tensor.name):
            return self.encoded
        return tokens

    encoded = 0  # tokens of the encoder

    # Cache and states

    def cache(self, cells, part=""):
        return sum(self.layer_cache(i, cells, part) for i in range(self.layers))

    def cells_only(self, cells):
        """Without states."""
        return sum(self.layer_cache(i, cells, "") - self.layer_cache(i, 0, "") for i in range(self.layers))

    def layer_cache(self, i, cells, part):
        """Bytes of the cache, or of the state of one sequence, that a layer reads."""
        if part == "enc." or self.arch == "bert":
            return 0
        if self.arch == "t5":
            width = self.key("attention.head_count") * (self.key("attention.key_length") +
                                                        self.key("attention.value_length"))
            return width * HALF * stepped(cells)
        if self.arch == "rwkv7":
            return (2 + self.key("wkv.head_size")) * self.key("embedding_length") * SINGLE
        if self.matrix(i, "attn_kv_a_mqa"):  # the latent vector is key and value
            return self.key("attention.key_length") * HALF * cells
        attends = self.matrix(i, "attn_output") is not None
        return self.state(i) + (self.cell(i) * HALF * cells if attends else 0)

    def cell(self, i):
        """Elements of keys and values of one cell, of all heads: the rows of their projections."""
        shared = self.key("attention.shared_kv_layers", 0)
        if i >= self.layers - shared:
            # The last layer of the same kind that has a cache.
            pattern = self.key("attention.sliding_window_pattern")
            i = max(j for j in range(self.layers - shared) if pattern[j] == pattern[i])
        keys = self.matrix(i, "attn_k")
        # Keys are also the values where the file has no matrix for these.
        return sum(int(matrix.shape[-1]) for matrix in (keys, self.matrix(i, "attn_v") or keys))

    def state(self, i):
        """Bytes of the last inputs of a convolution, and of the state after it."""
        if self.matrix(i, "shortconv.out_proj"):
            return (self.key("shortconv.l_cache") - 1) * self.key("embedding_length") * SINGLE
        convolution = self.matrix(i, "ssm_conv1d")
        if convolution is None:
            return 0
        inputs = (self.key("ssm.conv_kernel") - 1) * int(convolution.shape[-1])
        return (inputs + self.key("ssm.inner_size") * self.key("ssm.state_size")) * SINGLE


def stepped(cells):
    return -(-cells // CELL_STEP) * CELL_STEP
