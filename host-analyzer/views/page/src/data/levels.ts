// Levels of a session.

import { list } from "./read.ts";
import type { Summary } from "./schema.ts";

/**
 * Whether the session can have llama_decode calls. Programs on GGML other than llama.cpp have none.
 */
export function hasTokenLevel(summary: Summary): boolean {
  const probes = list(summary.session?.probes).filter((p) => p.level === "token");
  return (
    list(summary.tokens?.calls).length > 0 ||
    probes.length === 0 ||
    probes.some((p) => p.attached !== false)
  );
}
