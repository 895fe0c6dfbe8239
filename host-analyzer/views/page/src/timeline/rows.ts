// Converts tracks to rows of labelled slices.

import { STRIDE, type Timeline, type Track } from "../data/timeline.ts";
import { dims, phaseName, plural } from "../ui/format.ts";
import type { Row, Slice } from "./slice.ts";
import { stateSlices } from "./states.ts";

type Numbers = [number, number, number, number];

const PHASE = ["call", "prefill", "decode", "batch_decode", "draft", "warm_up", "encode"] as const;

function fours(track: Track): Numbers[] {
  const out: Numbers[] = [];
  for (let i = 0; i + STRIDE <= track.slices.length; i += STRIDE) {
    out.push(track.slices.slice(i, i + STRIDE) as Numbers);
  }
  return out;
}

function tokenSlices(track: Track, row: number): Slice[] {
  return fours(track).map(([start, length, phase, tokens]) => {
    const kind = PHASE[phase] ?? "call";
    const label =
      kind === "call" || tokens === 1 ? phaseName(kind) : `${phaseName(kind)} n=${tokens}`;
    return {
      row,
      start,
      length,
      kind,
      op: "",
      label,
      facts: () => (tokens > 0 ? [plural(tokens, "token")] : []),
    };
  });
}

function graphSlices(t: Timeline, track: Track, row: number, complete: boolean): Slice[] {
  return fours(track)
    .filter(([, , , backend]) => backend < 0 === complete)
    .map(([start, length, nodes, backend]) => {
      const name = complete ? "" : `${t.texts[backend] || "?"} `;
      return {
        row,
        start,
        length,
        kind: "graph",
        op: "",
        label: `graph ${name}(${nodes} nodes)`,
        facts: () => [complete ? "complete graph (scheduler)" : "split of one backend"],
      };
    });
}

function threadSlices(t: Timeline, track: Track, row: number): Slice[] {
  const text = (i: number | null | undefined): string => (i == null ? "" : (t.texts[i] ?? ""));
  let before = "";
  return fours(track).map(([start, length, index, cpu]) => {
    const node = t.nodes[index];
    if (!node) {
      const after = before;
      return {
        row,
        start,
        length,
        kind: "barrier",
        op: "",
        label: "barrier",
        facts: () => [`after ${after || "?"}`],
      };
    }
    const [name, op, desc, dtype, last, ne] = node;
    const what = text(desc) || text(op);
    before = text(name);
    const fused = last == null ? [] : [`fused up to ${text(last)}`];
    return {
      row,
      start,
      length,
      kind: "op",
      op: what,
      label: before || "(lost)",
      facts: () => [
        `${what} · ${text(dtype)} · ${dims(ne)}`,
        ...fused,
        ...(cpu < 0 ? [] : [`CPU ${cpu}`]),
      ],
    };
  });
}

/** Slices of operator probes, and of the controller's steps. */
function probeSlices(t: Timeline, track: Track, row: number): Slice[] {
  const kinds = ["graph", "barrier", "call"] as const;
  return fours(track).map(([start, length, text, code]) => {
    const label = t.labels?.[text] ?? "";
    const what =
      code === 0
        ? "operators captured"
        : code === 1
          ? "attaching or detaching probes: operator figures exclude these tokens"
          : "share of tokens with operator capture, as set by the controller";
    return { row, start, length, kind: kinds[code] ?? "call", op: "", label, facts: () => [what] };
  });
}

/** Rows in track order. A graph track becomes one row of complete graphs and one of splits. */
export function rowsOf(t: Timeline): Row[] {
  const rows: Row[] = [];
  const several = new Set(t.tracks.map((track) => track.process)).size > 1;
  const add = (
    track: Track,
    title: string,
    slices: (row: number) => Slice[],
    thin = false,
  ): void => {
    const found = slices(rows.length);
    if (found.length > 0) {
      rows.push({ title: several ? `${track.process} ${title}` : title, slices: found, thin });
    }
  };
  for (const track of t.tracks) {
    if (track.kind === "token") {
      add(track, track.track, (row) => tokenSlices(track, row));
    } else if (track.kind === "graph") {
      add(track, track.track, (row) => graphSlices(t, track, row, true));
      add(track, `${track.track}, backends`, (row) => graphSlices(t, track, row, false));
    } else if (track.kind === "probes") {
      add(track, track.track, (row) => probeSlices(t, track, row), true);
    } else if (track.kind === "state") {
      add(track, track.track, (row) => stateSlices(t, track, row), true);
    } else {
      add(track, track.track, (row) => threadSlices(t, track, row));
    }
  }
  return rows;
}
