// The full name of a program.

import { list } from "../data/read.ts";
import type { Process, Summary } from "../data/schema.ts";

/** The kernel keeps this many bytes of a name. */
const KERNEL_NAME = 15;

function base(path: string): string {
  return path.split("/").pop() ?? "";
}

/**
 * The name, whole where only the kernel's cut one was recorded but a path or the command line
 * continues it.
 */
function programName(process: Process, summary: Summary): string {
  const name = process.name ?? "";
  if (new TextEncoder().encode(name).length !== KERNEL_NAME) {
    return name;
  }
  const facts = list(summary.conditions?.processes).find((p) => p.pid === process.pid);
  const longer = [base(facts?.program ?? ""), base((process.command ?? "").split(" ")[0] ?? "")];
  return longer.find((candidate) => candidate.startsWith(name)) ?? name;
}

/** The programs that were traced, each once. */
export function programs(summary: Summary): string[] {
  const names = list(summary.session?.processes).map((p) => programName(p, summary));
  return [...new Set(names)].filter(Boolean);
}
