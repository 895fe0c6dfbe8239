// What of a row is seen in a window of time, and what is written there.

import type { Slice } from "./slice.ts";

/** A step of 1, 2 or 5 times a power of ten that gives about `n` ticks. */
export function tickStep(span: number, n: number): number {
  const raw = span / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((m) => m * power >= raw) ?? 10);
}

/** First slice of a row (sorted by start) that may reach into the window. */
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

/**
 * What is written into a slice with room for so many letters: its label, or what matters most of
 * it, whole or cut.
 */
export function textFor(s: Slice, room: number): string {
  if (room < 4) {
    return "";
  }
  const text = s.short && s.label.length > room ? s.short : s.label;
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
