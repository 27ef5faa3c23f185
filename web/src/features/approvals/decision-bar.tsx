import { useId } from "react";
import type { KeyboardEvent, Ref } from "react";

import { mayDecide, needsDeliberateApproval } from "../../api/can";
import { Button } from "../../ui/button";
import { AlwaysMenu } from "./always-menu";
import styles from "./decision-bar.module.css";
import { editableOf, editedInput } from "./edit-input";
import type { Decision, Entry, Terms } from "./queue-state";

interface DecisionBarProps {
  entry: Entry;
  draft: string;
  edit: string | null;
  isLive: boolean;
  isArmed: boolean;
  hiddenLines: number;
  onDraft: (text: string) => void;
  onDecide: (decision: Decision, terms?: Terms) => void;
  onEdit: () => void;
  approveRef: Ref<HTMLButtonElement>;
  feedbackRef: Ref<HTMLTextAreaElement>;
}

export function DecisionBar(props: DecisionBarProps) {
  const { entry, draft, onDraft, onDecide, approveRef, feedbackRef } = props;
  const field = useId();
  const edited = editOf(entry, props.edit);
  const isUnsendable = edited !== null && edited.error !== null;
  const rests = !props.isLive || !props.isArmed || entry.sending !== null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!rests && mayDecide(entry.request, "reject")) onDecide("reject");
  };
  return (
    <footer className={styles.bar}>
      <Notes entry={entry} isLive={props.isLive} hiddenLines={props.hiddenLines} />
      <div className={styles.more}>
        {mayDecide(entry.request, "edit") && props.edit === null && (
          <Button look="quiet" size="small" onClick={props.onEdit} aria-keyshortcuts="e">
            Edit first
          </Button>
        )}
        {/* A rule is proposed for what was asked, not for what one made of it. */}
        {edited === null && (
          <AlwaysMenu request={entry.request} rests={rests} onGrant={(grant) => onDecide("approve", { grant })} />
        )}
      </div>
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
          disabled={rests || !mayDecide(entry.request, "approve") || isUnsendable}
          onClick={() => onDecide("approve", edited === null ? {} : { edited: { input: edited.input } })}
          aria-keyshortcuts={needsDeliberateApproval(entry.request) ? undefined : "a"}
        >
          {edited === null ? "Approve" : "Approve edited"}
        </Button>
      </div>
    </footer>
  );
}

/** What would be sent instead of what was asked; none while the editor is closed or has changed nothing. */
function editOf({ request }: Entry, text: string | null) {
  const { tool_name: tool, tool_input: input } = request;
  if (text === null || text === editableOf(tool, input).text) return null;
  return editedInput(tool, input, text);
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
