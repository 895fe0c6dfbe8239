"""server.py -m MODEL -np SLOTS -t THREADS -c CONTEXT --port PORT: llama-server's own server, run from the Python package xllamacpp.

scripts/engine/server.sh fetches the package, and puts this next to it. It ends by SIGINT or SIGTERM.
"""

import argparse
import os
import signal

import xllamacpp

parser = argparse.ArgumentParser()
parser.add_argument("-m", required=True)
parser.add_argument("-np", type=int, default=1)
parser.add_argument("-t", type=int, default=2)
parser.add_argument("-c", type=int, default=1024)
parser.add_argument("--port", type=int, required=True)
asked = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = asked.m
params.n_parallel = asked.np
params.n_ctx = asked.c
params.kv_unified = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = asked.t
params.hostname, params.port = "127.0.0.1", asked.port
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: os._exit(0))
server = xllamacpp.Server(params)
while True:
    signal.pause()
