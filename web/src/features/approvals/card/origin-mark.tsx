import type { Origin } from "../../../api/message";
import { Icon } from "../../../ui/icon";
import { Tag } from "../../../ui/tag";
import styles from "./origin-mark.module.css";

const LOOKS = {
  client: { icon: "computer", word: "runs on the client" },
  api: { icon: "code", word: "asked by another agent (API)" },
  claude_cli: { icon: "code", word: "runs in Claude Code" },
} as const;

function lookOf(origin: Origin) {
  return origin === "agent" ? null : LOOKS[origin];
}

interface Whose {
  origin: Origin;
  /** The subagent that wants it, if one does. */
  agent?: string | undefined;
}

/** Whose call it is, where it is not one that our own agent makes and runs here. */
export function OriginMark({ origin, agent }: Whose) {
  const look = lookOf(origin);
  return (
    <>
      {look && (
        <span className={styles.mark}>
          <Icon name={look.icon} />
          {look.word}
        </span>
      )}
      {agent !== undefined && <Tag icon="branch" spoken="subagent" text={agent} />}
    </>
  );
}

/** The same for those who listen. */
export function originText({ origin, agent }: Whose): string | null {
  const words = [lookOf(origin)?.word, agent && `wanted by the subagent ${agent}`].filter(Boolean);
  return words.length === 0 ? null : words.join(", ");
}
