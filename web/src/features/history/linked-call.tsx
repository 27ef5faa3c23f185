// The call in the address, when the list below does not have it.
import { useEffect, useState } from "react";

import { fetchExecution } from "../../api/executions";
import type { Execution } from "../../api/executions";
import { useNow } from "../../lib/use-now";
import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { CallItem } from "./call-item";
import styles from "./history.module.css";
import type { Pictures } from "./pictures";
import { messageOf } from "./store";

interface LinkedCallProps extends Pictures {
  projectId: string;
  id: string;
  onOpen: (id: string | null) => void;
  onReview: (approvalId: string) => void;
}

export function LinkedCall({ projectId, id, onOpen, onReview, showRisk, showPreview }: LinkedCallProps) {
  const [answer, setAnswer] = useState<{ id: string; row: Execution | null; error: string } | null>(null);
  const now = useNow(60_000);
  useEffect(() => {
    let isCurrent = true;
    fetchExecution(projectId, id).then(
      (row) => isCurrent && setAnswer({ id, row, error: "" }),
      (error: unknown) => isCurrent && setAnswer({ id, row: null, error: messageOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [projectId, id]);
  if (answer?.id !== id) return null;
  if (answer.row === null) {
    return (
      <div className={styles.problem} role="alert">
        <p>
          <Prose text={`The call in the address could not be loaded: ${answer.error}`} />
        </p>
        <Button size="small" onClick={() => onOpen(null)}>
          Dismiss
        </Button>
      </div>
    );
  }
  const item = { row: answer.row, now, onOpen, onReview, showRisk, showPreview };
  return (
    <section className={styles.calls} aria-label="The call in the address">
      <ol className={styles.list}>
        <CallItem {...item} isOpen isStop />
      </ol>
    </section>
  );
}
