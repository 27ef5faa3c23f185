import type { Outcome } from "../../api/message";
import { Badge } from "../../ui/badge";
import type { Tone } from "../../ui/badge";

const LOOKS: Record<Outcome, { tone: Tone; symbol: string; word: string }> = {
  allow: { tone: "good", symbol: "✓", word: "Allow" },
  ask: { tone: "warn", symbol: "?", word: "Ask" },
  deny: { tone: "danger", symbol: "✕", word: "Deny" },
};

/** The strictest first: that is also the order in which they are applied. */
export const EFFECTS: readonly Outcome[] = ["deny", "ask", "allow"];

export function effectWord(effect: Outcome): string {
  return LOOKS[effect]?.word ?? effect;
}

export function EffectBadge({ effect }: { effect: Outcome }) {
  const { tone, symbol, word } = LOOKS[effect] ?? LOOKS.deny;
  return (
    <Badge tone={tone} symbol={symbol}>
      {word}
    </Badge>
  );
}
