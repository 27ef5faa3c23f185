import type { Outcome } from "../../../api/message";
import { Badge } from "../../../ui/badge";
import type { Tone } from "../../../ui/badge";

const LOOKS: Record<Outcome, { tone: Tone; symbol: string; word: string }> = {
  allow: { tone: "good", symbol: "✓", word: "Allowed" },
  ask: { tone: "warn", symbol: "?", word: "Asks" },
  deny: { tone: "danger", symbol: "✕", word: "Denied" },
};

/** What the rules say to one command. A word this page does not know yet is shown as the strictest. */
export function VerdictBadge({ verdict }: { verdict: Outcome }) {
  const { tone, symbol, word } = LOOKS[verdict] ?? LOOKS.deny;
  return (
    <Badge tone={tone} symbol={symbol}>
      {word}
    </Badge>
  );
}
