// Overhead of the profiler.

import type { Num } from "../data/maybe.ts";
import type { Summary } from "../data/schema.ts";
import { figure, h } from "../ui/dom.ts";
import { bytes, count, figureText, percent, plural, time } from "../ui/format.ts";
import { absent, panel, section } from "../ui/parts.ts";

function item(title: string, key: string, value: Num, text: string, note: string): HTMLElement {
  return h(
    "div",
    { class: "card small" },
    h("div", { class: "title" }, title),
    h("div", { class: "value" }, figure(key, value, text)),
    h("div", { class: "note" }, note),
  );
}

/** Measured from traced and untraced tokens, otherwise estimated. */
function slowdown(summary: Summary): HTMLElement {
  const s = summary.findings?.headline?.slowdown;
  const part = (x: Num): string =>
    x == null ? "–" : `${x < 0 ? "" : "+"}${(x * 100).toFixed(Math.abs(x) < 0.01 ? 2 : 1)} %`;
  if (s?.kind === "measured") {
    const e = s.edges;
    const edges = e
      ? `; while probes are attached or detached ${part(e.slowdown)}, ${time(e.extra_ns)} per burst`
      : "";
    const text = `per traced token, measured (${part(s.low)} to ${part(s.high)}); average over all tokens ${part(s.of_all_tokens)}. ${plural(s.bursts ?? 0, "burst")}: ${count(s.traced)} traced and ${count(s.untraced)} untraced tokens${edges}`;
    return item("Decode slowdown", "slowdown", s.slowdown, part(s.slowdown), text);
  }
  const share = summary.findings?.headline?.probes_share;
  const known = summary.cost?.decode_slowdown == null ? null : share;
  return item(
    "Decode slowdown",
    "probes_share",
    known,
    known == null ? "–" : `≈ ${(known * 100).toFixed(1)} %`,
    "of a token's time, estimated: the probes' step of the ladder",
  );
}

export function costSection(summary: Summary): HTMLElement {
  const c = summary.cost;
  const length = summary.session?.duration_ns;
  const of = (ns: Num): string =>
    ns == null || !length ? "" : `${percent(ns / length)} of the session on one CPU`;
  const body = c
    ? h(
        "div",
        { class: "cards" },
        item(
          "Stream",
          "stream_bytes",
          c.stream_bytes,
          bytes(c.stream_bytes),
          length && c.stream_bytes != null
            ? `${bytes(Math.round(c.stream_bytes / (length / 1e9)))} per second`
            : "",
        ),
        item(
          "Per operator span",
          "bytes_per_span",
          c.bytes_per_span,
          c.bytes_per_span == null ? "–" : `${figureText(c.bytes_per_span)} B`,
          c.spans == null ? "" : `${count(c.spans)} spans in ${bytes(c.span_bytes)}`,
        ),
        slowdown(summary),
        item(
          "Probe cost per operator",
          "probe_pair_ns",
          c.probe_pair_ns,
          time(c.probe_pair_ns),
          c.probe_inside_ns == null
            ? "not measured"
            : `${time(c.probe_inside_ns)} of it within the operator time`,
        ),
        c.batch_hits == null
          ? null
          : item(
              "Reading batches",
              "batch_probes_ns",
              c.batch_probes_ns,
              time(c.batch_probes_ns),
              `about, ${count(c.batch_hits)} probe hits between calls`,
            ),
        item(
          "BPF programs",
          "bpf_run_ns",
          c.bpf_run_ns,
          c.bpf_runs && c.bpf_run_ns != null
            ? `${time(Math.round(c.bpf_run_ns / c.bpf_runs))} per run`
            : "–",
          c.bpf_runs == null
            ? "not measured"
            : `${count(c.bpf_runs)} runs sampled, ${time(c.bpf_run_ns)}`,
        ),
        item("Agent CPU", "agent_cpu_ns", c.agent_cpu_ns, time(c.agent_cpu_ns), of(c.agent_cpu_ns)),
        item(
          "Agent memory",
          "agent_rss_bytes",
          c.agent_rss_bytes,
          bytes(c.agent_rss_bytes),
          "peak resident memory",
        ),
      )
    : absent("Not recorded.");
  return section(
    "cost",
    "Overhead",
    "CPU time, memory and slowdown caused by the agent and its probes.",
    panel("", body),
  );
}
