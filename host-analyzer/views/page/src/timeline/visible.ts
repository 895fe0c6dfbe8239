// The visible part of a row, axis ticks and slice labels.

import type { Slice } from "./slice.ts";

/** Step for about `n` ticks: 1, 2 or 5 times a power of ten. */
export function tickStep(span: number, n: number): number {
  const raw = span / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((m) => m * power >= raw) ?? 10);
}

/** Index of the first slice (sorted by start) that may reach into the window. */
export function firstVisible(slices: Slice[], from: number): number {
  let low = 0;
  let high = slices.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    const s = slices[mid]!;
    if (s.start + s.length < from) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

/** Text for a slice with space for `room` characters: the label or its short form, truncated. */
export function textFor(s: Slice, room: number): string {
  if (room < 4) {
    return "";
  }
  const text = s.short && s.label.length > room ? s.short : s.label;
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
