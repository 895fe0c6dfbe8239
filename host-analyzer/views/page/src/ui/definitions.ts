// Definitions that are shown on hover, of terms that several sections have.

export const FIRST_TOKEN =
  "Time to first token (TTFT): from the start of the first call for the prompt, or of an encoder before it, to the end of the last one";
export const PER_TOKEN =
  "Time per token (TPOT): mean time from the end of one decode call to the end of the next";
