"""Writes an ESRGAN model with random weights (RRDBNet, four times larger), as safetensors, and an image to try it on.

usage: gen_esrgan.py MODEL.safetensors BLOCKS IMAGE.png SIZE

Names and widths of the tensors are those of the published models (64 features, 32 more in each convolution of a dense block),
which stable-diffusion.cpp looks for; the number of blocks is free there. The same arguments always give the same bytes.
"""

import json
import struct
import sys
import zlib

import numpy as np

FEATURES, GROWTH = 64, 32


def tensors(blocks):
    rng = np.random.default_rng(1)

    def conv(name, inputs, outputs):
        weight = rng.standard_normal((outputs, inputs, 3, 3), dtype=np.float32) * np.float32(0.02)
        return [(name + ".weight", weight), (name + ".bias", np.zeros(outputs, np.float32))]

    all_of = conv("conv_first", 3, FEATURES)
    for block in range(blocks):
        for dense in (1, 2, 3):
            for k in range(5):
                outputs = FEATURES if k == 4 else GROWTH
                all_of += conv(f"body.{block}.rdb{dense}.conv{k + 1}", FEATURES + k * GROWTH, outputs)
    for name in ("conv_body", "conv_up1", "conv_up2", "conv_hr"):
        all_of += conv(name, FEATURES, FEATURES)
    return all_of + conv("conv_last", FEATURES, 3)


def write_model(path, all_of):
    header, offset = {}, 0
    for name, array in all_of:
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for _, array in all_of:
            out.write(array.tobytes())


def write_image(path, size):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    line = lambda y: b"\0" + bytes((x * 7 + y * 3 + c * 50) % 256 for x in range(size) for c in range(3))
    rows = zlib.compress(b"".join(line(y) for y in range(size)))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


if __name__ == "__main__":
    model, blocks, image, size = sys.argv[1:]
    write_model(model, tensors(int(blocks)))
    write_image(image, int(size))
