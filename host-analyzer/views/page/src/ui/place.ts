// Words for where weights lie and for the CPU backend, used by the head and by the details of the
// graph.

import type { Str } from "../data/maybe.ts";
import type { Engine, WeightBuffer, Weights } from "../data/schema.ts";
import { list } from "../data/read.ts";
import { bytes } from "./format.ts";

function fileName(path: Str): string {
  return (path ?? "").split("/").pop() ?? "";
}

/** What memory holds a weight, with the type of its buffer; null where nothing is known. */
export function place(memory: Str, buffer: Str, path: Str = null): string | null {
  const file = fileName(path);
  const words: Record<string, string> = {
    file: `mapped from ${file || "the file"}`,
    anonymous: "in memory of the engine's own",
    device: "on a device",
    unknown: "not known where",
  };
  const word = words[memory ?? ""];
  return word === undefined ? null : buffer ? `${word} (${buffer})` : word;
}

function part(b: WeightBuffer): string {
  return `${bytes(b.bytes)} ${place(b.memory, b.buffer, b.path) ?? "not known where"}`;
}

/** Where the weights of one context lie, in a line. */
export function weightLine(w: Weights): string {
  const parts = list(w.buffers).map(part);
  if (parts.length === 0) {
    return `${bytes(w.bytes)}, where they lie was not recorded`;
  }
  return parts.length === 1 ? parts[0]! : `${bytes(w.bytes)}: ${parts.join(", ")}`;
}

/** Which CPU backend an engine has loaded; null when none was found. */
export function cpuBackend(e: Engine): string | null {
  const file = fileName(e.cpu_library);
  switch (e.cpu_backend) {
    case "variant":
      return `variant ${e.cpu_variant ?? ""} (${file})`;
    case "library":
      return `${file}, without variants`;
    case "built_in":
      return `built into ${file}`;
    default:
      return null;
  }
}
