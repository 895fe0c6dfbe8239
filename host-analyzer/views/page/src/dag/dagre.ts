// Types for the part of dagre that is used: its declarations need a package that it does not ship.

import * as dagre from "@dagrejs/dagre";

interface DagreGraph {
  setGraph(label: Record<string, unknown>): void;
  setNode(key: string, label: Record<string, unknown>): void;
  setEdge(from: string, to: string, label: Record<string, unknown>): void;
  nodes(): string[];
  node(key: string): unknown;
  edge(from: string, to: string): unknown;
  graph(): unknown;
}

const library = dagre as unknown as {
  graphlib: { Graph: new (options: Record<string, unknown>) => DagreGraph };
  layout: (graph: DagreGraph) => void;
};

export const Graph = library.graphlib.Graph;
export const layout = library.layout;
