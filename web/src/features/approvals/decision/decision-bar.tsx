import { useId } from "react";
import type { KeyboardEvent, Ref } from "react";

import { questionsOf } from "../../../api/asking";
import { mayDecide, needsDeliberateApproval } from "../../../api/can";
import { HOP_KEY } from "../../../lib/keyboard";
import { Button } from "../../../ui/button";
import { AlwaysMenu } from "./always-menu";
import { openQuestions } from "./answers";
import type { Answers } from "./answers";
import styles from "./decision-bar.module.css";
import type { Decision, Entry, Terms } from "../queue/queue-state";
import { kindOf, sendableOf, wordsFor } from "./sendable";
import type { Told } from "./use-told";
import type { Missing } from "../card/use-whole-in-view";

interface DecisionBarProps {
  entry: Entry;
  draft: string;
  edit: string | null;
  answers: Answers;
  isLive: boolean;
  isArmed: boolean;
  isInside: boolean;
  missing: Missing;
  told: Told | null;
  hiddenLines: number;
  onDraft: (text: string) => void;
  onDecide: (decision: Decision, terms?: Terms) => void;
  onMissing: () => void;
  /** It was pressed before the card has been there long enough. */
  onEarly: () => void;
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
  const isOff = !props.isLive || entry.sending !== null;
  // Not `disabled`: a press that comes too early is told, not swallowed.
  const isEarly = !isOff && !props.isArmed;
  const inTime = (action: () => void) => () => (isEarly ? props.onEarly() : action());
  const isCall = kindOf(request) === "call";
  const isHigh = isCall && needsDeliberateApproval(request);
  const isEdited = isCall && (terms === null || terms.edited !== undefined);
  // What the person wrote is theirs; everything else they must have had before their eyes.
  const missing = isEdited ? null : props.missing;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!isOff && mayDecide(request, "reject")) inTime(() => onDecide("reject"))();
  };
  return (
    <footer className={styles.bar}>
      <Notes {...props} />
      <div className={styles.more}>
        {isCall && mayDecide(request, "edit") && props.edit === null && (
          <Button look="quiet" size="small" onClick={props.onEdit} aria-keyshortcuts="e">
            Edit first
          </Button>
        )}
        {/* A rule is proposed for what was asked, not for what one made of it. */}
        {isCall && !isEdited && (
          <AlwaysMenu request={request} rests={isOff || isEarly || missing !== null} onGrant={(grant) => onDecide("approve", { grant })} />
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
          look={isCall && !isHigh ? "danger" : "plain"}
          disabled={isOff || !mayDecide(request, "reject")}
          aria-disabled={isEarly || undefined}
          onClick={inTime(() => onDecide("reject"))}
          aria-label={isCall ? undefined : `${words.reject} (Reject)`}
          aria-keyshortcuts="r"
        >
          {words.reject}
        </Button>
        <Button
          look={isHigh ? "grave" : "primary"}
          ref={approveRef}
          className={styles.approve}
          // Not `disabled`: it goes on towards what is missing, and says what that is.
          data-missing={missing ?? undefined}
          disabled={isOff || !mayDecide(request, "approve") || terms === null}
          aria-disabled={isEarly || undefined}
          onClick={inTime(() => (missing === null ? onDecide("approve", terms ?? {}) : props.onMissing()))}
          aria-label={nameOf(isEdited ? "Approve edited" : words.approve, missing)}
          aria-describedby={missing === null ? undefined : `${field}-missing`}
          aria-keyshortcuts={needsDeliberateApproval(request) ? undefined : "a"}
        >
          <span>
            {isHigh && <span aria-hidden="true">▲ </span>}
            {isEdited ? "Approve edited" : words.approve}
          </span>
          {missing !== null && <small id={`${field}-missing`}>{MISSING[missing]}</small>}
        </Button>
      </div>
    </footer>
  );
}

const MISSING: Record<Exclude<Missing, null>, string> = {
  end: "scroll to the end first",
  folded: "unfold what is hidden first",
};

/** Every yes is found under "Approve"; what is missing is said apart from its name. */
function nameOf(word: string, missing: Missing): string | undefined {
  if (!word.startsWith("Approve")) return `${word} (Approve)`;
  return missing === null ? undefined : word;
}

type NotesProps = Pick<DecisionBarProps, "entry" | "answers" | "isLive" | "isInside" | "told" | "hiddenLines">;

/** The line is there before there is anything to say: what comes and goes must move nothing. */
function Notes({ entry, answers, isLive, isInside, told, hiddenLines }: NotesProps) {
  const open = openQuestions(questionsOf(entry.request) ?? [], answers);
  const isQuiet = told === null && isLive && !entry.sending && !entry.error && hiddenLines === 0 && open === 0;
  return (
    <div className={styles.notes}>
      <div role="status">
        {!isLive && <p>Not connected. You can decide as soon as the connection is back.</p>}
        {isLive && entry.sending && <p>{wordsFor(entry.request).sending[entry.sending]}</p>}
        {entry.error && <p className={styles.error}>{entry.error}</p>}
        {told !== null && !entry.sending && (
          <p key={told.count} className={styles.told}>
            {told.text}
          </p>
        )}
        {hiddenLines > 0 && <p>{hiddenLines.toLocaleString("en")} lines of this change are not shown.</p>}
        {open > 0 && !entry.sending && <p>{open === 1 ? "One question is open." : `${open} questions are open.`}</p>}
      </div>
      {isQuiet && <KeyHint isInside={isInside} isDeliberate={needsDeliberateApproval(entry.request)} />}
    </div>
  );
}

/** How to decide without a mouse, from where one is. */
function KeyHint({ isInside, isDeliberate }: { isInside: boolean; isDeliberate: boolean }) {
  if (!isInside) {
    return (
      <p className={styles.hint}>
        <kbd>{HOP_KEY}</kbd> moves into this card
      </p>
    );
  }
  return (
    <p className={styles.hint}>
      <kbd>a</kbd> {isDeliberate ? "to the button" : "approve"} <kbd>r</kbd> reject with feedback <kbd>{HOP_KEY}</kbd> back
    </p>
  );
}
