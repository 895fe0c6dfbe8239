// Finds the layer of the model that a run of nodes belongs to: from the analyzer's result,
// otherwise from tensor names.

import type { Prepared } from "./prepare.ts";

// llama.cpp names: "ffn_out-3", "Qcur-3 (view)", "blk.3.attn_q.weight", "cache_k_l3".
const LAYER = /(?:-|\bblk\.|cache_[kvrs]_l)(\d+)(?!\d)/;

/** "layer 3" if most nodes with a layer have this one; else null. */
export function layerOf(p: Prepared, nodes: number[]): string | null {
  const votes = new Map<string, number>();
  let named = 0;
  for (const n of nodes) {
    const node = p.node.get(n);
    const number = node?.layer == null ? LAYER.exec(node?.name ?? "")?.[1] : String(node.layer);
    if (number !== undefined) {
      named += 1;
      votes.set(number, (votes.get(number) ?? 0) + 1);
    }
  }
  const [best] = [...votes].sort((a, b) => b[1] - a[1]);
  return best && best[1] * 2 > named && named * 3 >= nodes.length ? `layer ${best[0]}` : null;
}
