// Where a request belongs: workspace, conversation and who asked, with a word when that is not what is open.
import type { Belonging } from "../../../api/message";
import type { ApprovalRequest } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { Icon } from "../../../ui/icon";
import { Visible } from "../../../ui/visible";
import styles from "./belonging-line.module.css";
import { rankOf } from "../queue/queue-order";
import type { Place, Rank } from "../queue/queue-order";

const FAR: Record<Rank, string | null> = { 0: null, 1: "another conversation", 2: "another workspace" };

export function BelongingLine({ request, place }: { request: ApprovalRequest; place: Place }) {
  const far = FAR[rankOf(request, place)];
  return (
    <p className={styles.line} aria-label="Where it belongs">
      <span className={styles.workspace} title={request.workspace.root}>
        <Icon name="folder" />
        <Visible text={request.workspace.name} blanks={BLANKS} />
      </span>
      <span className={styles.conversation}>
        <Visible text={titleOf(request)} blanks={BLANKS} />
      </span>
      <span className={styles.agent}>
        <Visible text={request.agent_name} blanks={BLANKS} />
      </span>
      {far !== null && <span className={styles.far}>{far}</span>}
    </p>
  );
}

/** The beginning of the conversation's first prompt. */
export function titleOf({ conversation }: Pick<Belonging, "conversation">): string {
  return conversation.title || "untitled conversation";
}

/** The same for titles, notifications and those who listen. */
export function belongingText(request: Belonging): string {
  return `${request.workspace.name} › ${titleOf(request)} · ${request.agent_name}`;
}
