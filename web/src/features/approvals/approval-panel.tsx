// The queue of waiting requests: one at a time, docked beside the transcript, never over it.
import { useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { mayDecide, needsDeliberateApproval } from "../../api/can";
import { holdsText } from "../../lib/keyboard";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { ApprovalDialog } from "./approval-dialog";
import styles from "./approval-panel.module.css";
import { editableOf } from "./edit-input";
import { KeyHelp } from "./key-help";
import { coveredByApproveAll, currentEntry, isAnswerToEdit, shownEntries } from "./queue-state";
import type { Decision, Entry, SessionId, Terms } from "./queue-state";
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
  const look = `${id} ${entry.request.digest}`;
  const { isArmed, acceptsKey } = useArmed(look);
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
    if (!mayDecide(request, "edit")) return;
    if (queue.edits[id] === undefined) flushSync(() => queue.edit(id, editableOf(request.tool_name, request.tool_input).text));
    editor.current?.focus();
  };
  const onApproveKey = () => {
    if (needsDeliberateApproval(entry.request)) approve.current?.focus();
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
        onHelp={() => setShowsKeys(true)}
      />
      <ApprovalDialog
        key={look}
        entry={entry}
        draft={draft}
        edit={queue.edits[id] ?? null}
        isAnswerToEdit={isAnswerToEdit(queue, entry.request)}
        isLive={queue.isLive}
        isArmed={isArmed}
        skew={queue.skew}
        onDraft={(text) => queue.draft(id, text)}
        onDecide={onDecide}
        onEdit={onEdit}
        onEdited={(text) => queue.edit(id, text)}
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

interface QueueBarProps {
  entry: Entry;
  isLive: boolean;
  onApproveAll: () => void;
  onHelp: () => void;
}

/** Outside the dialog: it is about the queue, not about this request. */
function QueueBar({ entry, isLive, onApproveAll, onHelp }: QueueBarProps) {
  const queue = useApprovals();
  const shown = shownEntries(queue);
  const place = shown.indexOf(entry) + 1;
  const covered = coveredByApproveAll(queue, entry.request.session_id);
  // It would approve what was asked, not what somebody is just making of it.
  const isEditing = Object.keys(queue.edits).length > 0;
  return (
    <div className={styles.bar} data-risk={entry.request.risk_level}>
      <div className={styles.place}>
        {shown.length > 1 && <Step to={-1} label="Previous request" />}
        <span>
          {place} of {shown.length}
        </span>
        {shown.length > 1 && <Step to={1} label="Next request" />}
      </div>
      {shown.length > 1 && (
        <Button size="small" disabled={!isLive || covered === 0 || isEditing} onClick={onApproveAll} title="High risk excepted">
          Approve all <span className={styles.except}>{covered} · HIGH excepted</span>
        </Button>
      )}
      <div className={styles.tools}>
        <Button look="quiet" size="small" className={styles.help} onClick={onHelp} aria-label="Keys" title="Keys (?)">
          ?
        </Button>
        <Button look="quiet" size="small" onClick={() => queue.minimise(true)} aria-label="Minimise" title="Minimise (Esc)">
          <Icon name="minimise" />
        </Button>
      </div>
    </div>
  );
}

function Step({ to, label }: { to: 1 | -1; label: string }) {
  const move = useApprovals((queue) => queue.move);
  return (
    <Button look="quiet" size="small" onClick={() => move(to)} aria-label={label}>
      <Icon name={to === 1 ? "chevron" : "previous"} />
    </Button>
  );
}
