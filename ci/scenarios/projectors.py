"""Small parts with random weights that run before or after a language model: an encoder of images, and a decoder
of speech."""
import gguf
import numpy as np


class Projector:
    """A GGUF file of the architecture `clip`. All weights are F16, as the engine's convolutions need them."""

    def __init__(self, path):
        self.w, self.rng = gguf.GGUFWriter(path, "clip"), np.random.default_rng(1)
        self.w.add_string("general.type", "mmproj")
        self.w.add_file_type(1)

    def keys(self, part, kind, **keys):
        """The sizes of a part: `vision` or `gen.audio`."""
        self.w.add_string(f"clip.{part}.projector_type", kind)
        for key, value in keys.items():
            add = self.w.add_float32 if isinstance(value, float) else self.w.add_uint32
            add(f"clip.{part}.{key.replace('__', '.')}", value)

    def weight(self, name, *shape, dtype=np.float16):
        """A tensor whose rows have the length 1 in the mean; `shape` is in the order of numpy."""
        inputs = np.prod(shape[1:]) if len(shape) > 1 else 1
        values = self.rng.standard_normal(shape, dtype=np.float32) / np.float32(inputs ** 0.5)
        self.w.add_tensor(name, values.astype(dtype))

    def bias(self, name, n):
        self.w.add_tensor(name, self.rng.standard_normal(n, dtype=np.float32) * np.float32(0.02))

    def linear(self, name, outputs, *inputs):
        self.weight(name + ".weight", outputs, *inputs)
        self.bias(name + ".bias", outputs)

    def norm(self, name, n):
        self.ones(name + ".weight", n)
        self.bias(name + ".bias", n)

    def ones(self, name, n):
        self.w.add_tensor(name, np.ones(n, np.float32))

    def close(self):
        self.w.write_header_to_file()
        self.w.write_kv_data_to_file()
        self.w.write_tensors_to_file()
        self.w.close()


def clip(path):
    f = Projector(path)
    images(f, projected=256)
    f.close()


def merger(path, projected=1024, width=128, ff=256):
    """The encoder of Qwen2-VL, of one layer: four patches are a token, and all tokens of an image have one position."""
    f, patch = Projector(path), 14
    f.keys("vision", "qwen2vl_merger", image_size=560, patch_size=patch, embedding_length=width, feed_forward_length=ff,
           projection_dim=projected, block_count=1, attention__head_count=2, attention__layer_norm_epsilon=1e-6)
    f.w.add_bool("clip.has_vision_encoder", True)
    for key in ("image_mean", "image_std"):
        f.w.add_array("clip.vision." + key, [0.5, 0.5, 0.5])
    # One for each of the two pictures of a moment in a video.
    f.weight("v.patch_embd.weight", width, 3, patch, patch)
    f.weight("v.patch_embd.weight.1", width, 3, patch, patch)
    layer(f, "v.blk.0.", width, ff)
    f.norm("v.post_ln", width)
    f.linear("mm.0", 4 * width, 4 * width)
    f.linear("mm.2", projected, 4 * width)
    f.close()


def layer(f, p, width, ff):
    """A layer of an encoder of images."""
    for q in ("attn_q", "attn_k", "attn_v", "attn_out"):
        f.linear(p + q, width, width)
    f.norm(p + "ln1", width)
    f.norm(p + "ln2", width)
    f.linear(p + "ffn_up", ff, width)
    f.linear(p + "ffn_down", width, ff)


def images(f, projected, width=384, layers=2, size=224):
    """Patches of 14 pixels: images of 224 pixels are 256 tokens."""
    patch, ff = 14, 4 * width
    f.keys("vision", "mlp", image_size=size, patch_size=patch, embedding_length=width, feed_forward_length=ff,
           projection_dim=projected, block_count=layers, attention__head_count=6, attention__layer_norm_epsilon=1e-5)
    f.w.add_bool("clip.has_vision_encoder", True)
    f.w.add_bool("clip.use_gelu", True)
    for key in ("image_mean", "image_std"):
        f.w.add_array("clip.vision." + key, [0.5, 0.5, 0.5])
    f.weight("v.patch_embd.weight", width, 3, patch, patch)
    f.weight("v.class_embd", width, dtype=np.float32)
    f.weight("v.position_embd.weight", (size // patch) ** 2 + 1, width, dtype=np.float32)
    f.norm("v.pre_ln", width)
    for i in range(layers):
        layer(f, f"v.blk.{i}.", width, ff)
    f.linear("mm.0", projected, width)
    f.linear("mm.2", projected, projected)


def speech(path):
    """The decoder of pocket-tts: a flow from a state to a latent vector, then a transformer and convolutions."""
    state, latent, flow, width, heads, ff, layers = 256, 32, 64, 64, 2, 128, 1
    f = Projector(path)
    # The engine loads no file without an encoder, of images or of sound.
    images(f, projected=state, width=48, layers=1, size=28)
    f.keys("gen.audio", "pockettts_gen", embedding_length=width, feed_forward_length=ff, projection_dim=state,
           block_count=layers, attention__head_count=heads, attention__layer_norm_epsilon=1e-5)
    f.w.add_bool("clip.has_gen_audio_encoder", True)
    p = "a.gen.flow."
    f.linear(p + "input_proj", flow, latent)
    f.linear(p + "cond_embd", flow, state)
    for i in range(2):
        f.ones(f"{p}time.{i}.freqs", flow // 2)
        f.linear(f"{p}time.{i}.up", flow, flow)
        f.linear(f"{p}time.{i}.down", flow, flow)
        f.ones(f"{p}time.{i}.norm", flow)
    f.norm(p + "blk.0.norm", flow)
    f.linear(p + "blk.0.up", flow, flow)
    f.linear(p + "blk.0.down", flow, flow)
    f.linear(p + "blk.0.ada", 3 * flow, flow)
    f.linear(p + "final.ada", 2 * flow, flow)
    f.linear(p + "final.proj", latent, flow)
    # The end of the speech is above a score of -4; this one never is.
    f.weight("a.gen.out_eos.weight", 1, state)
    f.w.add_tensor("a.gen.out_eos.bias", np.full(1, -1000, np.float32))
    f.weight("a.gen.input_linear.weight", state, latent)
    f.bias("a.gen.emb_mean", latent)
    f.ones("a.gen.emb_std", latent)
    p = "a.gen.wav."
    f.weight(p + "quant_out.weight", width, latent)
    f.weight(p + "upsample.weight", width, 1, 2 * 16)
    for i in range(layers):
        q = f"{p}tfm.blk.{i}."
        f.norm(q + "ln1", width)
        f.norm(q + "ln2", width)
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            f.weight(f"{q}{name}.weight", width, width)
        f.ones(q + "ls1.weight", width)
        f.ones(q + "ls2.weight", width)
        f.weight(q + "ffn_up.weight", ff, width)
        f.weight(q + "ffn_down.weight", width, ff)
    channels = width
    f.linear(p + "seanet.conv_in", channels, width, 7)
    for i, stride in enumerate((6, 5, 4)):
        q, channels = f"{p}seanet.blk.{i}.", channels // 2
        # Transposed: inputs, outputs, kernel.
        f.weight(q + "scale_conv.weight", 2 * channels, channels, 2 * stride)
        f.bias(q + "scale_conv.bias", channels)
        f.linear(q + "res_conv1", channels // 2, channels, 3)
        f.linear(q + "res_conv2", channels, channels // 2, 1)
    f.linear(p + "seanet.conv_out", 1, channels, 3)
    f.close()
