// What the measurement itself cost.

import type { Num, Summary } from "../data/summary.ts";
import { figure, h } from "../ui/dom.ts";
import { bytes, count, figureText, percent, time } from "../ui/format.ts";
import { absent, panel, section } from "../ui/parts.ts";

function item(title: string, key: string, value: Num, text: string, note: string): HTMLElement {
  return h("div", { class: "card small" }, h("div", { class: "title" }, title), h("div", { class: "value" }, figure(key, value, text)), h("div", { class: "note" }, note));
}

export function costSection(summary: Summary): HTMLElement {
  const c = summary.cost;
  const length = summary.session?.duration_ns;
  const of = (ns: Num): string => (ns == null || !length ? "" : `${percent(ns / length)} of the session on one CPU`);
  const body = c
    ? h(
        "div",
        { class: "cards" },
        item("Stream", "stream_bytes", c.stream_bytes, bytes(c.stream_bytes), length && c.stream_bytes != null ? `${bytes(Math.round(c.stream_bytes / (length / 1e9)))} a second` : ""),
        item("Per operator span", "bytes_per_span", c.bytes_per_span, c.bytes_per_span == null ? "–" : `${figureText(c.bytes_per_span)} B`, c.spans == null ? "" : `${count(c.spans)} spans in ${bytes(c.span_bytes)}`),
        item("Decode slowdown", "decode_slowdown", c.decode_slowdown, c.decode_slowdown == null ? "–" : `≈ ${(c.decode_slowdown * 100).toFixed(2)} %`, "estimated: operators times the cost of their probes"),
        item("Probes per operator", "probe_pair_ns", c.probe_pair_ns, time(c.probe_pair_ns), c.probe_inside_ns == null ? "not measured" : `${time(c.probe_inside_ns)} of it inside every operator's time`),
        item("BPF programs", "bpf_run_ns", c.bpf_run_ns, c.bpf_runs && c.bpf_run_ns != null ? `${time(Math.round(c.bpf_run_ns / c.bpf_runs))} a run` : "–", c.bpf_runs == null ? "not measured" : `${count(c.bpf_runs)} runs sampled, ${time(c.bpf_run_ns)}`),
        item("Agent CPU", "agent_cpu_ns", c.agent_cpu_ns, time(c.agent_cpu_ns), of(c.agent_cpu_ns)),
        item("Agent memory", "agent_rss_bytes", c.agent_rss_bytes, bytes(c.agent_rss_bytes), "largest resident set"),
      )
    : absent("The recording does not tell.");
  return section("cost", "Cost of measuring", "What the agent and its probes took from the machine.", panel("", body));
}
