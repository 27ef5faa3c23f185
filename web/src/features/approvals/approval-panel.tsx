// The queue of waiting requests: one at a time, docked beside the transcript, never over it.
import { useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { mayDecide, needsDeliberateApproval } from "../../api/can";
import { holdsText } from "../../lib/keyboard";
import { ApprovalDialog } from "./approval-dialog";
import styles from "./approval-panel.module.css";
import { editableOf } from "./edit-input";
import { KeyHelp } from "./key-help";
import { QueueBar } from "./queue-bar";
import { currentEntry, isAnswerToEdit } from "./queue-state";
import type { Decision, Entry, SessionId, Terms } from "./queue-state";
import { kindOf } from "./sendable";
import { useApprovals } from "./store";
import { useArmed } from "./use-armed";
import { useDecisionKeys } from "./use-decision-keys";

export interface Decide {
  /** Returns whether the decision left for the server. */
  decide: (entry: Entry, decision: Decision, feedback: string, terms: Terms) => boolean;
  approveAll: (sessionId: SessionId) => boolean;
}

export function ApprovalPanel(props: Decide) {
  const entry = useApprovals(currentEntry);
  const isMinimised = useApprovals((queue) => queue.isMinimised);
  return entry && !isMinimised ? <OpenPanel entry={entry} {...props} /> : null;
}

function OpenPanel({ entry, decide, approveAll }: { entry: Entry } & Decide) {
  const id = entry.request.request_id;
  const queue = useApprovals();
  const draft = queue.drafts[id] ?? "";
  // One that moved is another one: whoever was about to decide has to look again.
  const { isArmed, acceptsKey } = useArmed(`${id} ${entry.request.digest}`);
  const [showsKeys, setShowsKeys] = useState(false);
  const panel = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const approve = useRef<HTMLButtonElement>(null);
  const feedback = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<HTMLTextAreaElement>(null);

  const onDecide = (decision: Decision, terms: Terms = {}) => {
    if (decide(entry, decision, draft.trim(), terms)) queue.sent(id, decision, terms);
  };
  const onEdit = () => {
    const { request } = entry;
    if (!mayDecide(request, "edit") || kindOf(request) !== "call") return;
    if (queue.edits[id] === undefined) flushSync(() => queue.edit(id, editableOf(request.tool_name, request.tool_input).text));
    editor.current?.focus();
  };
  const onApproveKey = () => {
    // There is no yes to a question before its answer.
    if (approve.current?.disabled) body.current?.querySelector<HTMLElement>("fieldset input")?.focus();
    else if (needsDeliberateApproval(entry.request)) approve.current?.focus();
    else approve.current?.click();
  };
  const focusBody = useCallback(() => body.current?.focus({ preventScroll: true }), []);
  useFocusOnArrival(id, panel, focusBody);
  useFocusReturn();
  useDecisionKeys({
    panel,
    acceptsKey,
    focusPanel: focusBody,
    approve: onApproveKey,
    writeFeedback: () => feedback.current?.focus(),
    edit: onEdit,
    move: queue.move,
    minimise: () => queue.minimise(true),
    help: () => setShowsKeys(true),
  });

  return (
    <aside className={styles.panel} ref={panel} aria-label="Waiting for you">
      <QueueBar
        entry={entry}
        isLive={queue.isLive && isArmed}
        onApproveAll={() => {
          const { session_id: sessionId } = entry.request;
          if (approveAll(sessionId)) queue.sentAll(sessionId);
        }}
        onChosen={focusBody}
        onHelp={() => setShowsKeys(true)}
      />
      <ApprovalDialog
        key={entry.look}
        entry={entry}
        draft={draft}
        edit={queue.edits[id] ?? null}
        answers={queue.answers[id] ?? {}}
        isAnswerToEdit={isAnswerToEdit(queue, entry.request)}
        isLive={queue.isLive}
        isArmed={isArmed}
        skew={queue.skew}
        onDraft={(text) => queue.draft(id, text)}
        onDecide={onDecide}
        onEdit={onEdit}
        onEdited={(text) => queue.edit(id, text)}
        onAnswer={(answers) => queue.answer(id, answers)}
        onSend={() => approve.current?.click()}
        bodyRef={body}
        editorRef={editor}
        approveRef={approve}
        feedbackRef={feedback}
      />
      {showsKeys && <KeyHelp onClose={() => setShowsKeys(false)} />}
    </aside>
  );
}

/** Moves the focus to a request that appears, unless that would interrupt writing elsewhere. */
function useFocusOnArrival(id: string, panel: React.RefObject<HTMLElement | null>, focusBody: () => void) {
  useEffect(() => {
    const active = document.activeElement;
    const isElsewhere = !panel.current?.contains(active);
    if (!(isElsewhere && holdsText(active))) focusBody();
  }, [id, panel, focusBody]);
}

/** When the last request is gone, writing goes on where it stopped. */
function useFocusReturn() {
  const [origin] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isLost = document.activeElement === document.body || document.activeElement === null;
      // On a touch screen a focused field would raise the keyboard.
      const hasKeyboard = window.matchMedia("(pointer: fine)").matches;
      if (isLost && hasKeyboard && origin instanceof HTMLElement && origin.isConnected) origin.focus();
    },
    [origin],
  );
}
