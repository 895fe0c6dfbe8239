// Speculative decoding: acceptance, cost of verification, speed with and without the draft.

import { list } from "../data/read.ts";
import type { Maybe, Num } from "../data/maybe.ts";
import type { Speculative } from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { count, DASH, percent, time } from "../ui/format.ts";
import { panel, section } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

const figure = (value: Num, unit = ""): string =>
  value == null ? DASH : `${value.toFixed(2)}${unit}`;

function one(s: Speculative): Child {
  // With bounds only, figures relative to a plain token are lower bounds.
  const least = s.plain?.by === "bounds" ? "at least " : "";
  const verdict =
    s.wins == null
      ? s.plain?.by === "calls"
        ? "Inconclusive: single tokens of the target take too different times."
        : "Inconclusive: fewer than eight single tokens of the target were recorded."
      : s.wins
        ? "The draft speeds generation up."
        : "The draft slows generation down.";
  const parts: [string, Num][] = [
    ["computing accepted tokens again", s.replay_ns],
    ["copies of states", s.copies_ns],
  ];
  const more = parts
    .filter(([, ns]) => ns)
    .map(([what, ns]) => ` Per round, ${what}: ${time(ns)}.`)
    .join("");
  const positions = table({
    name: "positions",
    rows: list(s.positions),
    columns: [
      { key: "position", title: "Position", numeric: true, value: (p) => p.position },
      {
        key: "drafted",
        title: "Verified",
        numeric: true,
        value: (p) => p.drafted,
        cell: (p) => count(p.drafted),
      },
      {
        key: "accepted",
        title: "Accepted",
        numeric: true,
        value: (p) => p.accepted,
        cell: (p) => count(p.accepted),
      },
      {
        key: "accepted_share",
        title: "Share",
        numeric: true,
        value: (p) => p.accepted_share,
        cell: (p) => percent(p.accepted_share),
      },
    ],
  });
  const verified = table({
    name: "verified",
    rows: list(s.verified),
    columns: [
      { key: "drafted", title: "Guesses", numeric: true, value: (v) => v.drafted },
      {
        key: "rounds",
        title: "Rounds",
        numeric: true,
        value: (v) => v.rounds,
        cell: (v) => count(v.rounds),
      },
      {
        key: "median_ns",
        title: "Median call",
        numeric: true,
        value: (v) => v.median_ns,
        cell: (v) => time(v.median_ns),
      },
      {
        key: "verify_ratio",
        title: "Relative cost",
        numeric: true,
        value: (v) => v.verify_ratio,
        cell: (v) => figure(v.verify_ratio),
      },
    ],
  });
  return h(
    "div",
    {},
    h(
      "p",
      { class: "lead", data: { key: "speculative.wins", value: s.wins ?? "" } },
      `${count(s.rounds)} rounds: ${figure(s.emitted_per_round)} tokens per round, break-even at ${least}${figure(s.break_even_per_round)}. ${figure(s.tokens_per_s, " t/s")} with the draft, ${least}${figure(s.plain_tokens_per_s, " t/s")} without. ${verdict}${more}`,
    ),
    h(
      "div",
      { class: "halves" },
      panel("Acceptance by position", positions.element),
      panel("Verification cost", verified.element),
    ),
  );
}

export function speculativeSection(rows: Maybe<Speculative[]>): HTMLElement | null {
  const all = list(rows);
  return all.length === 0
    ? null
    : section(
        "speculative",
        "Speculative decoding",
        "A draft model guesses tokens, the target model verifies them.",
        ...all.map(one),
      );
}
