// One line about the prompt.

import { list } from "../data/read.ts";
import type { Request, Summary } from "../data/schema.ts";
import { FIRST_TOKEN } from "../ui/definitions.ts";
import { figure, h } from "../ui/dom.ts";
import { plural, time } from "../ui/format.ts";
import { rateText } from "./speeds.ts";

/** The first request that generated tokens. */
function mainRequest(requests: Request[]): Request | undefined {
  return requests.find((r) => r.ttft_ns != null && (r.generated ?? 0) > 0) ?? requests[0];
}

/** Null if no prompt was processed. */
export function promptLine(summary: Summary): HTMLElement | null {
  const prefill = summary.tokens?.prefill;
  if (!prefill?.calls || !prefill.tokens || prefill.tokens_per_s == null) {
    return null;
  }
  const requests = list(summary.tokens?.requests);
  const main = mainRequest(requests);
  const which =
    requests.length > 1 && main ? ` (request ${(main.index ?? 0) + 1} of ${requests.length})` : "";
  return h(
    "p",
    { id: "prompt" },
    h("b", {}, requests.length > 1 ? "Prompts: " : "Prompt: "),
    `${plural(prefill.tokens, "token")} in ${time(prefill.time_ns)} (`,
    figure("prefill_tokens_per_s", prefill.tokens_per_s, `${rateText(prefill.tokens_per_s)} t/s`),
    "). ",
    ...(main?.ttft_ns == null
      ? []
      : [
          "Time to first token: ",
          figure("ttft_ns", main.ttft_ns, time(main.ttft_ns), FIRST_TOKEN),
          `${which}.`,
        ]),
    prefill.phase_by_token_count ? " Prompts were recognized by the number of tokens." : null,
  );
}
