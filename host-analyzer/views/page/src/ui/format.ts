// Formats times, sizes, counts, shares and dates; `DASH` for unknown values.

import type { Maybe, Num } from "../data/maybe.ts";

export const DASH = "–";

function digits(value: number): string {
  const a = Math.abs(value);
  return value.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2);
}

/** A duration. */
export function time(ns: Num): string {
  if (ns == null) {
    return DASH;
  }
  if (ns < 0) {
    return `-${time(-ns)}`;
  }
  if (ns < 1e3) {
    return `${Math.round(ns)} ns`;
  }
  if (ns < 999.5e3) {
    return `${digits(ns / 1e3)} µs`;
  }
  if (ns < 999.5e6) {
    return `${digits(ns / 1e6)} ms`;
  }
  if (ns < 120e9) {
    return `${digits(ns / 1e9)} s`;
  }
  const s = Math.round(ns / 1e9);
  return `${Math.floor(s / 60)} min ${s % 60} s`;
}

/** A size. */
export function bytes(n: Num): string {
  if (n == null) {
    return DASH;
  }
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = n;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${digits(value)} ${units[unit]}`;
}

/** A count, with thin spaces between thousands. */
export function count(n: Num): string {
  return n == null ? DASH : String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A rate or another plain figure. */
export function figureText(n: Num): string {
  return n == null ? DASH : digits(n);
}

/** A share as a percentage. */
export function percent(share: Num): string {
  if (share == null) {
    return DASH;
  }
  const p = share * 100;
  return p > 0 && p < 0.05 ? "<0.1 %" : `${p.toFixed(1)} %`;
}

/** Dimensions, fastest first, without trailing ones. */
export function dims(ne: Maybe<number[]>): string {
  if (!Array.isArray(ne) || ne.length === 0) {
    return DASH;
  }
  let last = ne.length;
  while (last > 1 && ne[last - 1] === 1) {
    last -= 1;
  }
  return ne.slice(0, last).join("×");
}

/** Date and time in the reader's time zone. */
export function date(unixNs: Num): string {
  if (!unixNs) {
    return DASH;
  }
  const d = new Date(unixNs / 1e6);
  const two = (n: number) => String(n).padStart(2, "0");
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return `${day} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** A count with its noun. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Truncates the middle to `max` characters, because tensor names differ at both ends. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  const tail = Math.floor((max - 1) / 3);
  return `${text.slice(0, max - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** Display name of a phase. */
export function phaseName(phase: string | null | undefined): string {
  return phase === "warm_up" ? "warm-up" : (phase ?? "unknown").replaceAll("_", " ");
}
