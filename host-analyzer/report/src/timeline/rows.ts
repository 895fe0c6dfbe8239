// From tracks to rows of the drawing: which slices stand in which row, and what each is.

import { STRIDE, type Timeline, type Track } from "../data/timeline.ts";

export interface Slice {
  row: number;
  start: number;
  length: number;
  label: string;
  /** What the colour goes by: a phase, an operator's description, "graph", "barrier". */
  kind: "prefill" | "decode" | "call" | "graph" | "op" | "barrier";
  op: string;
  /** Lines for the tooltip, after the label. */
  facts: () => string[];
}

export interface Row {
  title: string;
  note: string;
  slices: Slice[];
}

const PHASE = ["call", "prefill", "decode"] as const;

type Source = Pick<Timeline, "texts" | "nodes">;

function nodeOf(t: Source, index: number): { name: string; desc: string; op: string; dtype: string; ne: number[] } {
  const [name = 0, op = 0, desc = 0, dtype = 0, ...ne] = t.nodes[index] ?? [];
  const text = (i: number): string => t.texts[i] ?? "";
  return { name: text(name), op: text(op), desc: text(desc) || text(op), dtype: text(dtype), ne };
}

function dimensions(ne: number[]): string {
  return ne.join("×") || "?";
}

function tokenRow(track: Track, row: number): Slice[] {
  const out: Slice[] = [];
  for (let i = 0; i + 3 < track.slices.length; i += STRIDE.token) {
    const [start, length, phase, tokens] = track.slices.slice(i, i + 4) as [number, number, number, number];
    const kind = PHASE[phase] ?? "call";
    out.push({ row, start, length, kind, op: "", label: kind === "prefill" ? `prefill n=${tokens}` : kind, facts: () => [`${tokens} tokens`] });
  }
  return out;
}

function graphRow(t: Source, track: Track, row: number, depth: number): Slice[] {
  const out: Slice[] = [];
  for (let i = 0; i + 4 < track.slices.length; i += STRIDE.graph) {
    const [start, length, level, nodes, backend] = track.slices.slice(i, i + 5) as [number, number, number, number, number];
    if (level === depth) {
      const name = t.texts[backend] || "";
      out.push({ row, start, length, kind: "graph", op: "", label: `graph${name ? ` ${name}` : ""} (${nodes} nodes)`, facts: () => [depth === 0 ? "scheduler" : "backend"] });
    }
  }
  return out;
}

function threadRow(t: Source, track: Track, row: number): Slice[] {
  const out: Slice[] = [];
  for (let i = 0; i + 5 < track.slices.length; i += STRIDE.thread) {
    const [start, work, wait, index, last, cpu] = track.slices.slice(i, i + 6) as [number, number, number, number, number, number];
    const n = nodeOf(t, index);
    const fused = last === index ? [] : [`fused with ${nodeOf(t, last).name}`];
    out.push({ row, start, length: work, kind: "op", op: n.desc, label: n.name || "(lost)", facts: () => [`${n.desc} · ${n.dtype} · ${dimensions(n.ne)}`, ...fused, `CPU ${cpu}`] });
    if (wait > 0) {
      out.push({ row, start: start + work, length: wait, kind: "barrier", op: "", label: "barrier", facts: () => [`after ${n.name}`] });
    }
  }
  return out;
}

/** Rows from top to bottom: calls, graphs, threads, process by process as the tracks come. */
export function rowsOf(t: Timeline): Row[] {
  const rows: Row[] = [];
  for (const track of t.tracks) {
    const note = `${track.process || "process"} ${track.pid}`;
    if (track.kind === "token") {
      rows.push({ title: "calls", note, slices: tokenRow(track, rows.length) });
    } else if (track.kind === "graph") {
      for (const depth of [0, 1]) {
        const slices = graphRow(t, track, rows.length, depth);
        if (slices.length > 0) {
          rows.push({ title: depth === 0 ? "graphs" : "backends", note, slices });
        }
      }
    } else {
      rows.push({ title: `${track.name || "thread"} ${track.tid}`, note, slices: threadRow(t, track, rows.length) });
    }
  }
  return rows;
}
