import { useId } from "react";
import type { KeyboardEvent, Ref } from "react";

import { questionsOf } from "../../api/asking";
import { mayDecide, needsDeliberateApproval } from "../../api/can";
import { Button } from "../../ui/button";
import { AlwaysMenu } from "./always-menu";
import { openQuestions } from "./answers";
import type { Answers } from "./answers";
import styles from "./decision-bar.module.css";
import type { Decision, Entry, Terms } from "./queue-state";
import { kindOf, sendableOf, wordsFor } from "./sendable";

interface DecisionBarProps {
  entry: Entry;
  draft: string;
  edit: string | null;
  answers: Answers;
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
  const { request } = entry;
  const field = useId();
  const words = wordsFor(request);
  const terms = sendableOf(request, props.edit, props.answers);
  const rests = !props.isLive || !props.isArmed || entry.sending !== null;
  const isCall = kindOf(request) === "call";
  const isEdited = isCall && (terms === null || terms.edited !== undefined);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!rests && mayDecide(request, "reject")) onDecide("reject");
  };
  return (
    <footer className={styles.bar}>
      <Notes entry={entry} answers={props.answers} isLive={props.isLive} hiddenLines={props.hiddenLines} />
      <div className={styles.more}>
        {isCall && mayDecide(request, "edit") && props.edit === null && (
          <Button look="quiet" size="small" onClick={props.onEdit} aria-keyshortcuts="e">
            Edit first
          </Button>
        )}
        {/* A rule is proposed for what was asked, not for what one made of it. */}
        {isCall && !isEdited && (
          <AlwaysMenu request={request} rests={rests} onGrant={(grant) => onDecide("approve", { grant })} />
        )}
      </div>
      <div className={styles.feedback}>
        <label htmlFor={field}>Feedback</label>
        <textarea
          id={field}
          ref={feedbackRef}
          rows={1}
          value={draft}
          placeholder={words.feedback}
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={styles.buttons}>
        <Button
          look={isCall ? "danger" : "plain"}
          disabled={rests || !mayDecide(request, "reject")}
          onClick={() => onDecide("reject")}
          aria-label={isCall ? undefined : `${words.reject} (Reject)`}
          aria-keyshortcuts="r"
        >
          {words.reject}
        </Button>
        <Button
          look="primary"
          ref={approveRef}
          disabled={rests || !mayDecide(request, "approve") || terms === null}
          onClick={() => onDecide("approve", terms ?? {})}
          aria-label={words.approve.startsWith("Approve") ? undefined : `${words.approve} (Approve)`}
          aria-keyshortcuts={needsDeliberateApproval(request) ? undefined : "a"}
        >
          {isEdited ? "Approve edited" : words.approve}
        </Button>
      </div>
    </footer>
  );
}

function Notes({ entry, answers, isLive, hiddenLines }: Pick<DecisionBarProps, "entry" | "answers" | "isLive" | "hiddenLines">) {
  const open = openQuestions(questionsOf(entry.request) ?? [], answers);
  return (
    <div className={styles.notes} role="status">
      {!isLive && <p>Not connected. You can decide as soon as the connection is back.</p>}
      {isLive && entry.sending && <p>{wordsFor(entry.request).sending[entry.sending]}</p>}
      {entry.error && <p className={styles.error}>{entry.error}</p>}
      {hiddenLines > 0 && <p>{hiddenLines.toLocaleString("en")} lines of this change are not shown.</p>}
      {open > 0 && !entry.sending && <p>{open === 1 ? "One question is open." : `${open} questions are open.`}</p>}
    </div>
  );
}
