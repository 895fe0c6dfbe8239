// Declarations of the Node functions that the tests use, instead of the package @types/node.

declare module "node:test" {
  export default function test(name: string, run: () => void | Promise<void>): void;
}

declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}

declare module "node:assert/strict" {
  export function equal(actual: unknown, expected: unknown, message?: string): void;
  export function deepEqual(actual: unknown, expected: unknown, message?: string): void;
  export function ok(value: unknown, message?: string): asserts value;
}

declare module "*/make.mjs" {
  import type { Dag } from "../../src/data/schema.ts";
  import type { Timeline } from "../../src/data/timeline.ts";
  export function sample(options: { listing: string }): { dag: Dag; timeline: Timeline };
}
