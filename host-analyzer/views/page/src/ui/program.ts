// Full names of programs.

import { list } from "../data/read.ts";
import type { Process, Summary } from "../data/schema.ts";

/** The kernel truncates names to this many bytes. */
const KERNEL_NAME = 15;

function base(path: string): string {
  return path.split("/").pop() ?? "";
}

/** The name. One that the kernel truncated is completed from the path or the command line. */
function programName(process: Process, summary: Summary): string {
  const name = process.name ?? "";
  if (new TextEncoder().encode(name).length !== KERNEL_NAME) {
    return name;
  }
  const facts = list(summary.conditions?.processes).find((p) => p.pid === process.pid);
  const longer = [base(facts?.program ?? ""), base((process.command ?? "").split(" ")[0] ?? "")];
  return longer.find((candidate) => candidate.startsWith(name)) ?? name;
}

/** Names of the traced programs, without repetitions. */
export function programs(summary: Summary): string[] {
  const names = list(summary.session?.processes).map((p) => programName(p, summary));
  return [...new Set(names)].filter(Boolean);
}
