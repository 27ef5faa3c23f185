import type { PreviewFacts } from "../../../api/message";
import { bytes } from "../../../lib/bytes";
import { Badge } from "../../../ui/badge";
import type { Tone } from "../../../ui/badge";
import { Visible } from "../../../ui/visible";
import styles from "./file-chips.module.css";

interface Chip {
  text: string;
  tone: Tone;
  symbol?: string;
}

/** What happens to a file beside its lines, a chip each. */
export function FileChips({ facts }: { facts: PreviewFacts }) {
  return chipsOf(facts).map(({ text, tone, symbol }) => (
    <span key={text} className={styles.chip}>
      <Badge tone={tone} {...(symbol === undefined ? {} : { symbol })}>
        <Visible text={text} />
      </Badge>
    </span>
  ));
}

function chipsOf(facts: PreviewFacts): Chip[] {
  const chips: (Chip | false | null | undefined | "")[] = [
    facts.is_deleted && { text: "Deleted", tone: "danger", symbol: "✕" },
    facts.is_new_file && { text: "New file", tone: "good", symbol: "✦" },
    facts.renamed_from && { text: `renamed from ${facts.renamed_from}`, tone: "calm" },
    modeChip(facts),
    facts.link_target && { text: `link to ${facts.link_target}`, tone: "warn", symbol: "↪" },
    facts.is_binary && { text: `binary, ${sizes(facts)}`, tone: "warn" },
    ...lineEndChips(facts),
  ];
  return chips.filter((chip): chip is Chip => Boolean(chip));
}

/** The last line end may come or go while the others stay. */
function lineEndChips({ line_endings: ends }: PreviewFacts): Chip[] {
  if (!ends) return [];
  const chips: Chip[] = [];
  if (ends.from !== ends.to) chips.push({ text: `line endings ${ends.from} → ${ends.to}`, tone: "warn" });
  if (ends.final_newline) chips.push({ text: `last line end ${ends.final_newline}`, tone: "calm" });
  return chips;
}

/** A file that becomes executable is more than a detail. */
function modeChip({ old_mode: before, new_mode: after }: PreviewFacts): Chip | null {
  if (!after || before === after) return null;
  const tone = isExecutable(after) && !isExecutable(before ?? "") ? "warn" : "calm";
  return { text: before ? `mode ${before} → ${after}` : `mode ${after}`, tone };
}

function isExecutable(mode: string): boolean {
  return /[1357]/.test(mode.slice(-3));
}

function sizes({ original_size: before, new_size: after }: PreviewFacts): string {
  const known = [before, after].filter((size) => size !== null && size !== undefined);
  return known.length > 0 ? known.map(bytes).join(" → ") : "size unknown";
}
