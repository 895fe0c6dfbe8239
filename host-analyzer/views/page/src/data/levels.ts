// Which levels a session can have.

import { list } from "./read.ts";
import type { Summary } from "./schema.ts";

/** Whether there can be token calls: a program on GGML other than llama.cpp has none. */
export function hasTokenLevel(summary: Summary): boolean {
  const probes = list(summary.session?.probes).filter((p) => p.level === "token");
  return (
    list(summary.tokens?.calls).length > 0 ||
    probes.length === 0 ||
    probes.some((p) => p.attached !== false)
  );
}
