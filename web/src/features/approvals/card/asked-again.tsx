// Why a call that was decided stands here once more, and what a person has made of it.
import type { ApprovalRequest } from "../../../api/message";
import { CappedText } from "../../../ui/capped-text";
import { Prose } from "../../../ui/prose";
import styles from "./asked-again.module.css";

interface AskedAgainProps {
  request: ApprovalRequest;
  /** Whether it is here because of an edit made in this tab. */
  isAnswerToEdit: boolean;
}

export function AskedAgain({ request, isAnswerToEdit }: AskedAgainProps) {
  const why = request.asked_again ?? (isAnswerToEdit ? "riskier after your edit" : null);
  if (why === null && !request.edited) return null;
  return (
    <div className={styles.notes}>
      {why !== null && (
        <p className={styles.again}>
          Asked again: <Prose text={why} />
        </p>
      )}
      {request.edited && <Original input={request.edited.original_input} />}
    </div>
  );
}

function Original({ input }: { input: unknown }) {
  return (
    <details className={styles.original}>
      <summary>Edited by hand: this is not what the agent asked for</summary>
      <CappedText label="What the agent asked for" text={JSON.stringify(input, null, 2)} isSuspect />
    </details>
  );
}
