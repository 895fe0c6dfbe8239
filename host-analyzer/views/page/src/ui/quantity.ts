// Formats values with units.

import type { Maybe, Num } from "../data/maybe.ts";
import { DASH, time } from "./format.ts";

/** The step from one prefix to the next, and the units with their prefixes. */
const PREFIXES: Record<string, [number, string[]]> = {
  hertz: [1000, ["Hz", "kHz", "MHz", "GHz", "THz"]],
  bytes: [1024, ["B", "KiB", "MiB", "GiB", "TiB"]],
  microwatts: [1000, ["µW", "mW", "W", "kW", "MW"]],
  ops_per_s: [1000, ["op/s", "kop/s", "Mop/s", "Gop/s", "Top/s", "Pop/s"]],
};
/** Sensors show memory traffic in binary units; ceilings and the roofline in decimal units. */
const BYTE_RATE: [number, string[]] = [1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]];
const BINARY_BYTE_RATE: [number, string[]] = [1024, ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"]];

/** A value in a unit of summary.json; a dash if unknown. */
export function quantity(value: Num, unit: Maybe<string>, binary = true): string {
  if (value == null) {
    return DASH;
  }
  if (unit === "ns") {
    return time(value);
  }
  if (unit === "millidegrees") {
    return `${(value / 1000).toFixed(1)} °C`;
  }
  if (unit === "percent") {
    return `${value.toFixed(1)} %`;
  }
  const rate = binary ? BINARY_BYTE_RATE : BYTE_RATE;
  const [step, names] =
    unit === "bytes_per_s" ? rate : (PREFIXES[unit ?? ""] ?? [1000, [unit ?? ""]]);
  let [scaled, i] = [value, 0];
  while (scaled >= Math.min(step, 999.5) && i + 1 < names.length) {
    scaled /= step;
    i += 1;
  }
  return `${scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)} ${names[i]}`;
}

/** CPUs as ranges: `0-3,6`. */
export function cpuRanges(cpus: Maybe<number[]>): string {
  if (!Array.isArray(cpus) || cpus.length === 0) {
    return DASH;
  }
  const sorted = [...cpus].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const cpu of sorted) {
    const last = ranges[ranges.length - 1];
    if (last && cpu <= last[1] + 1) {
      last[1] = cpu;
    } else {
      ranges.push([cpu, cpu]);
    }
  }
  return ranges.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(",");
}
