// Descriptions of weight locations and of the CPU backend.

import type { Str } from "../data/maybe.ts";
import type { Engine, WeightBuffer, Weights } from "../data/schema.ts";
import { list } from "../data/read.ts";
import { bytes } from "./format.ts";

function fileName(path: Str): string {
  return (path ?? "").split("/").pop() ?? "";
}

/** Memory that holds a weight, with the buffer type; null if unknown. */
export function place(memory: Str, buffer: Str, path: Str = null): string | null {
  const file = fileName(path);
  const words: Record<string, string> = {
    file: `mapped from ${file || "the file"}`,
    anonymous: "in anonymous memory",
    device: "in device memory",
    unknown: "location unknown",
  };
  const word = words[memory ?? ""];
  return word === undefined ? null : buffer ? `${word} (${buffer})` : word;
}

function part(b: WeightBuffer): string {
  return `${bytes(b.bytes)} ${place(b.memory, b.buffer, b.path) ?? "(location unknown)"}`;
}

/** Location of the weights of one context, on one line. */
export function weightLine(w: Weights): string {
  const parts = list(w.buffers).map(part);
  if (parts.length === 0) {
    return `${bytes(w.bytes)}, location not recorded`;
  }
  return parts.length === 1 ? parts[0]! : `${bytes(w.bytes)}: ${parts.join(", ")}`;
}

/** CPU backend of an engine; null if none was found. */
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
