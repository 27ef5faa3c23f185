import type { Origin } from "../../api/message";
import { Icon } from "../../ui/icon";
import styles from "./origin-mark.module.css";

const LOOKS = {
  client: { icon: "computer", word: "runs on the client" },
  api: { icon: "code", word: "asked by another agent (API)" },
  claude_cli: { icon: "code", word: "runs in Claude Code" },
} as const;

function lookOf(origin: Origin) {
  return origin === "agent" ? null : LOOKS[origin];
}

/** Whose call it is, where it is not one that our own agent runs here. */
export function OriginMark({ origin }: { origin: Origin }) {
  const look = lookOf(origin);
  if (look === null) return null;
  return (
    <span className={styles.mark}>
      <Icon name={look.icon} />
      {look.word}
    </span>
  );
}

/** The same for those who listen. */
export function originText(origin: Origin): string | null {
  return lookOf(origin)?.word ?? null;
}
