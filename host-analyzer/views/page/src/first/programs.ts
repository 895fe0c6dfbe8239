// Programs that ran on CPUs that the engine waited for.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Interferer, Sched } from "../data/schema.ts";

export interface Program {
  name: string;
  pid: number;
  time_ns: number;
}

/** Program of the command line; tasks name themselves as they like. */
export function programOf(task: Pick<Interferer, "command" | "name">): string {
  return (task.command ?? "").split(" ")[0]!.split("/").pop() || task.name;
}

/** Tasks of other programs by process, the longest time first. */
export function otherPrograms(sched: Maybe<Sched>): Program[] {
  const rows = new Map<string, Program>();
  for (const task of list(sched?.interference)) {
    if (task.engine || task.idle) {
      continue;
    }
    // A process that ended before the agent looked it up has no id.
    const key = task.pid ? String(task.pid) : task.name;
    const row = rows.get(key);
    if (row) {
      row.time_ns += task.time_ns;
    } else {
      rows.set(key, { name: programOf(task), pid: task.pid, time_ns: task.time_ns });
    }
  }
  return [...rows.values()].sort((a, b) => b.time_ns - a.time_ns);
}
