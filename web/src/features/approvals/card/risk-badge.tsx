import type { RiskLevel } from "../../../api/message";
import { Badge } from "../../../ui/badge";
import type { Tone } from "../../../ui/badge";

const LOOKS: Record<RiskLevel, { tone: Tone; symbol: string; word: string }> = {
  LOW: { tone: "calm", symbol: "○", word: "Low risk" },
  MEDIUM: { tone: "warn", symbol: "◆", word: "Medium risk" },
  HIGH: { tone: "danger", symbol: "▲", word: "High risk" },
};

/** A level this page does not know yet is shown as high: unknown is never harmless. */
export function RiskBadge({ level }: { level: RiskLevel }) {
  const { tone, symbol, word } = LOOKS[level] ?? LOOKS.HIGH;
  return (
    <Badge tone={tone} symbol={symbol}>
      {word}
    </Badge>
  );
}
