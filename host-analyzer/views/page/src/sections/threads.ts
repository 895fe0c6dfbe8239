// Load balance between threads: work and barrier wait.

import { list } from "../data/read.ts";
import type { Num } from "../data/maybe.ts";
import type { Summary, Thread } from "../data/schema.ts";
import { h, type Child } from "../ui/dom.ts";
import { count, percent, time } from "../ui/format.ts";
import { captureNotes } from "../ui/capture.ts";
import { absent, panel, section } from "../ui/parts.ts";

interface Part {
  title: string;
  key: string;
  work: (t: Thread) => Num;
  wait: (t: Thread) => Num;
}

const PARTS: Part[] = [
  {
    title: "Prefill",
    key: "prefill",
    work: (t) => t.prefill_work_ns,
    wait: (t) => t.prefill_wait_ns,
  },
  { title: "Decode", key: "decode", work: (t) => t.decode_work_ns, wait: (t) => t.decode_wait_ns },
  {
    title: "Batch decode",
    key: "batch_decode",
    work: (t) => t.batch_decode_work_ns,
    wait: (t) => t.batch_decode_wait_ns,
  },
];

function bar(kind: string, ns: Num, max: number, key: string): Child {
  const fill = h("span", {
    class: kind,
    data: { key, value: ns ?? "" },
    title: `${kind} ${time(ns)}`,
  });
  fill.style.width = `${((ns ?? 0) / max) * 100}%`;
  return fill;
}

function balance(part: Part, threads: Thread[]): Child {
  const busy = threads.filter((t) => (part.work(t) ?? 0) + (part.wait(t) ?? 0) > 0);
  if (busy.length === 0) {
    return panel(part.title, absent("No operators of this phase were recorded."));
  }
  const max = Math.max(...busy.map((t) => (part.work(t) ?? 0) + (part.wait(t) ?? 0)));
  const lines = busy.map((t) => {
    const work = part.work(t) ?? 0;
    const wait = part.wait(t) ?? 0;
    return h(
      "div",
      { class: "thread", data: { tid: t.tid } },
      h(
        "span",
        { class: "who mono", title: `process ${t.pid ?? "?"}` },
        t.name || "thread",
        h("span", { class: "muted" }, ` ${t.tid ?? ""}`),
      ),
      h(
        "span",
        { class: "stack" },
        bar("work", part.work(t), max, `${part.key}_work_ns`),
        bar("wait", part.wait(t), max, `${part.key}_wait_ns`),
      ),
      h("span", { class: "num" }, `${time(work)} ${part.wait(t) == null ? "work + wait" : "work"}`),
      h(
        "span",
        { class: "num muted" },
        part.wait(t) == null ? "wait unknown" : `${percent(wait / (work + wait))} waiting`,
      ),
    );
  });
  return panel(part.title, ...lines);
}

export function threadSection(summary: Summary): HTMLElement {
  const threads = list(summary.threads);
  const spans = threads.reduce((sum, t) => sum + (t.spans ?? 0), 0);
  const legend = h(
    "p",
    { class: "legend" },
    h("span", { class: "swatch work" }),
    "work ",
    h("span", { class: "swatch wait" }),
    "barrier wait",
  );
  const body =
    threads.length > 0
      ? h(
          "div",
          { class: "halves" },
          ...PARTS.filter((p, i) => i < 2 || threads.some((t) => (p.work(t) ?? 0) > 0)).map((p) =>
            balance(p, threads),
          ),
        )
      : absent("No operator spans were recorded.");
  return section(
    "threads",
    "Threads",
    spans > 0
      ? `Load balance of ${count(threads.length)} threads, from ${count(spans)} operator spans.`
      : "",
    captureNotes(summary),
    legend,
    body,
  );
}
