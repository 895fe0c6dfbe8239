// The programs that ran instead of the engine, in short. The section Interference has all.

import type { Maybe } from "../data/maybe.ts";
import type { Sched } from "../data/schema.ts";
import { h } from "../ui/dom.ts";
import { plural, time } from "../ui/format.ts";
import { evidenceLink } from "../ui/links.ts";
import { absent, panel } from "../ui/parts.ts";
import { otherPrograms } from "./programs.ts";

const SHOWN = 5;

export function whoHadTheCpu(sched: Maybe<Sched>): HTMLElement {
  const title = "Programs that ran instead of the engine";
  if (!sched?.recorded) {
    return panel(title, absent("Not recorded. Record with --levels all."));
  }
  const all = otherPrograms(sched);
  if (all.length === 0) {
    return panel(title, absent("None."));
  }
  const top = Math.max(1, all[0]!.time_ns);
  const rows = all.slice(0, SHOWN).map(({ name, pid, time_ns }) => {
    const fill = h("span", { class: "fill cause" });
    fill.style.width = `${(time_ns / top) * 100}%`;
    return h(
      "li",
      { data: { pid, value: time_ns } },
      h(
        "span",
        { class: "label" },
        name,
        pid ? h("span", { class: "muted" }, ` pid ${pid}`) : null,
      ),
      h("span", { class: "track" }, fill),
      h("span", { class: "num" }, time(time_ns)),
    );
  });
  const further = all.length - rows.length + (sched.left_out?.tasks ?? 0);
  return panel(
    title,
    h("ol", { class: "programs" }, ...rows),
    h(
      "p",
      { class: "hint" },
      further > 0 ? `${plural(further, "further program")}. ` : null,
      evidenceLink(["interference"], "All, with their commands"),
    ),
  );
}
