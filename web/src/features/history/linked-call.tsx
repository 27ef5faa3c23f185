// The call in the address, when the list below does not have it.
import { describeError } from "../../api/client";
import { useNow } from "../../lib/use-now";
import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { CallItem } from "./call-item";
import styles from "./history.module.css";
import type { Pictures } from "./pictures";
import { useLinkedCall } from "./queries";

interface LinkedCallProps extends Pictures {
  projectId: string;
  id: string;
  onOpen: (id: string | null) => void;
  onReview: (approvalId: string) => void;
}

export function LinkedCall({ projectId, id, onOpen, onReview, showRisk, showPreview }: LinkedCallProps) {
  const { data: row, error } = useLinkedCall(projectId, id);
  const now = useNow(60_000);
  if (error !== null && row === undefined) {
    return (
      <div className={styles.problem} role="alert">
        <p>
          <Prose text={`The call in the address could not be loaded: ${describeError(error)}`} />
        </p>
        <Button size="small" onClick={() => onOpen(null)}>
          Dismiss
        </Button>
      </div>
    );
  }
  if (row === undefined) return null;
  const item = { row, now, onOpen, onReview, showRisk, showPreview };
  return (
    <section className={styles.calls} aria-label="The call in the address">
      <ol className={styles.list}>
        <CallItem {...item} isOpen isStop />
      </ol>
    </section>
  );
}
