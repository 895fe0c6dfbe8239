// Commands for remedies.

import { list } from "../data/read.ts";
import type { Maybe } from "../data/maybe.ts";
import type { Finding, ProcessFacts, Summary } from "../data/schema.ts";
import { cpuRanges } from "../ui/quantity.ts";

/** CPUs of this machine that the engine may not use. */
export function freeCpus(summary: Summary): number[] {
  const affinity = list(summary.conditions?.processes).map((p: ProcessFacts) => p.affinity);
  if (affinity.length === 0 || affinity.some((cpus) => cpus == null)) {
    return [];
  }
  const used = new Set(affinity.flatMap((cpus) => list(cpus)));
  return Array.from({ length: summary.session?.cpus ?? 0 }, (_, cpu) => cpu).filter(
    (cpu) => !used.has(cpu),
  );
}

function evidenceCpus(finding: Finding): number[] {
  const value = list(finding.evidence).find((e) => e.key === "cpus")?.value;
  return Array.isArray(value) ? value : [];
}

/** `0x3` for CPUs 0 and 1. */
export function cpuMask(cpus: number[]): string {
  return `0x${cpus.reduce((mask, cpu) => mask | (1n << BigInt(cpu)), 0n).toString(16)}`;
}

/** A command, or options of the engine. Null where the remedy has none. */
export function command(finding: Finding, free: number[], threads: Maybe<number>): string | null {
  const { remedy } = finding;
  switch (remedy?.kind) {
    case "threads":
    case "quota":
      return `-t ${remedy.threads}`;
    case "keep_window":
      return "--swa-full";
    case "pin":
      return `taskset -c ${cpuRanges(remedy.cpus)} … -t ${remedy.threads}`;
    case "pin_threads": {
      const cpus = evidenceCpus(finding);
      return threads && cpus.length >= threads
        ? `-t ${threads} --cpu-mask ${cpuMask(cpus)} --cpu-strict 1`
        : null;
    }
    case "move_tasks": {
      const ids = remedy.tasks.map(([id]) => id).filter((id) => id > 0);
      if (ids.length === 0) {
        return null;
      }
      // Without a CPU to move them to, only stopping them helps. SIGSTOP can be undone.
      return free.length > 0
        ? ids.map((id) => `taskset -acp ${cpuRanges(free)} ${id}`).join("; ")
        : `kill -STOP ${ids.join(" ")}`;
    }
    default:
      return null;
  }
}
