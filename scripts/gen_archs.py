#!/usr/bin/env python3
"""Writes GGUF models with random weights of architectures that gen_models.py does not have: state
spaces, linear attention, latent attention, experts with biases, per-layer embeddings, encoders.

ci/archs.sh runs them and compares the bytes that ProfInfer counts with the files. So the weights are
much larger than the activations, and the same name always gives the same bytes. An adapter is a
second file, NAME.lora.gguf.
"""
import argparse
import os
import sys

from archs import MODELS


def build(folder, name):
    """Writes the file of a model, and what belongs to it, into the folder."""
    for suffix, write in MODELS[name].files.items():
        path = os.path.join(folder, name + suffix)
        write(path + ".part")
        os.replace(path + ".part", path)
        print(f"    {name + suffix}: {os.path.getsize(path) / 1e6:.0f} MB", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", help="folder for NAME.gguf")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which models (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names and what they are")
    args = parser.parse_args()
    if args.list:
        for name, model in MODELS.items():
            print(f"{name:14} {model.about}")
        return
    if not args.out:
        parser.error("which folder?")
    unknown = [n for n in args.names if n not in MODELS]
    if unknown:
        parser.error(f"no model called {', '.join(unknown)}; --list shows them all")
    for name in args.names or MODELS:
        build(args.out, name)


if __name__ == "__main__":
    main()
