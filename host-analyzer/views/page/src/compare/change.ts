// Formats changes.

import type { Num } from "../data/maybe.ts";
import { DASH, time } from "../ui/format.ts";

/** A share with its sign. */
export function change(share: Num): string {
  if (share == null) {
    return DASH;
  }
  const percent = share * 100;
  const text = percent.toFixed(Math.abs(percent) < 9.95 ? 1 : 0);
  return Number(text) === 0 ? "0.0 %" : `${percent > 0 ? "+" : ""}${text} %`;
}

/** A time with its sign. */
export function changeTime(ns: Num): string {
  return ns != null && ns > 0 ? `+${time(ns)}` : time(ns);
}
