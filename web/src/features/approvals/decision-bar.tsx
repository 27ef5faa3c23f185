import { useId } from "react";
import type { KeyboardEvent, Ref } from "react";

import { mayDecide, needsDeliberateApproval } from "../../api/can";
import { Button } from "../../ui/button";
import styles from "./decision-bar.module.css";
import type { Decision, Entry } from "./queue-state";

interface DecisionBarProps {
  entry: Entry;
  draft: string;
  isLive: boolean;
  isArmed: boolean;
  hiddenLines: number;
  onDraft: (text: string) => void;
  onDecide: (decision: Decision) => void;
  approveRef: Ref<HTMLButtonElement>;
  feedbackRef: Ref<HTMLTextAreaElement>;
}

export function DecisionBar(props: DecisionBarProps) {
  const { entry, draft, onDraft, onDecide, approveRef, feedbackRef } = props;
  const field = useId();
  const rests = !props.isLive || !props.isArmed || entry.sending !== null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!rests && mayDecide(entry.request, "reject")) onDecide("reject");
  };
  return (
    <footer className={styles.bar}>
      <Notes entry={entry} isLive={props.isLive} hiddenLines={props.hiddenLines} />
      <div className={styles.feedback}>
        <label htmlFor={field}>Feedback</label>
        <textarea
          id={field}
          ref={feedbackRef}
          rows={1}
          value={draft}
          placeholder="With a rejection: what to do instead"
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={styles.buttons}>
        <Button
          look="danger"
          disabled={rests || !mayDecide(entry.request, "reject")}
          onClick={() => onDecide("reject")}
          aria-keyshortcuts="r"
        >
          Reject
        </Button>
        <Button
          look="primary"
          ref={approveRef}
          disabled={rests || !mayDecide(entry.request, "approve")}
          onClick={() => onDecide("approve")}
          aria-keyshortcuts={needsDeliberateApproval(entry.request) ? undefined : "a"}
        >
          Approve
        </Button>
      </div>
    </footer>
  );
}

interface NotesProps {
  entry: Entry;
  isLive: boolean;
  hiddenLines: number;
}

function Notes({ entry, isLive, hiddenLines }: NotesProps) {
  return (
    <div className={styles.notes} role="status">
      {!isLive && <p>Not connected. You can decide as soon as the connection is back.</p>}
      {isLive && entry.sending && <p>{entry.sending === "approve" ? "Sending the approval…" : "Sending the rejection…"}</p>}
      {entry.error && <p className={styles.error}>{entry.error}</p>}
      {hiddenLines > 0 && <p>{hiddenLines.toLocaleString("en")} lines of this change are not shown.</p>}
    </div>
  );
}
