// Phases whose operators are shown apart, in the order of the choice, with their titles.

export const PHASES: Record<string, string> = {
  decode: "Decode",
  batch_decode: "Decode of several sequences",
  prefill: "Prefill",
  unknown: "All graphs",
};
