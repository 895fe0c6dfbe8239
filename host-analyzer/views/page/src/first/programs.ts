// Programs that ran on CPUs that the engine waited for.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Sched } from "../data/schema.ts";

export interface Program {
  name: string;
  pid: number;
  time_ns: number;
}

/** Tasks of other programs by process, the longest time first. */
export function otherPrograms(sched: Maybe<Sched>): Program[] {
  const rows = new Map<string, Program>();
  for (const task of list(sched?.interference)) {
    if (task.engine || task.idle) {
      continue;
    }
    // A process that ended before the agent looked it up has no id.
    const key = task.pid ? String(task.pid) : task.program;
    const row = rows.get(key);
    if (row) {
      row.time_ns += task.time_ns;
    } else {
      rows.set(key, { name: task.program, pid: task.pid, time_ns: task.time_ns });
    }
  }
  return [...rows.values()].sort((a, b) => b.time_ns - a.time_ns);
}
