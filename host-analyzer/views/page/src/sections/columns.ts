// Columns that several tables of operators have.

import type { Num } from "../data/maybe.ts";
import { time } from "../ui/format.ts";
import { shareBar } from "../ui/parts.ts";
import type { Column } from "../ui/table.ts";

interface Timed {
  wait_ns: Num;
  share: Num;
}

export const BARRIER: Column<Timed> = {
  key: "wait_ns",
  title: "Barrier",
  numeric: true,
  tip: "Barrier wait, summed over threads",
  value: (r) => r.wait_ns,
  cell: (r) => time(r.wait_ns),
};

/** `of`: what the share is of. */
export function shareColumn<T extends Timed>(
  colour: (row: T) => string,
  of = "on this backend",
): Column<T> {
  return {
    key: "share",
    title: "Share",
    numeric: true,
    tip: `Share of the operator wall time of the phase ${of}`.trim(),
    value: (r) => r.share,
    cell: (r) => shareBar(r.share, colour(r)),
  };
}
