// What waits for the person, in a place of its own: one request at a time, or the list of what was put aside.
import { useCallback, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { mayDecide, needsDeliberateApproval } from "../../api/can";
import { ApprovalDialog } from "./card/approval-dialog";
import styles from "./approval-panel.module.css";
import { BatchSheet } from "./queue/batch-sheet";
import { editableOf } from "./decision/edit-input";
import { EmptyPanel } from "./empty-panel";
import { KeyHelp } from "./key-help";
import { QueueBar } from "./queue/queue-bar";
import { conversationKey } from "./queue/queue-order";
import { currentEntry, isAnswerToEdit, seenKey } from "./queue/queue-state";
import type { Decision, Entry, Terms } from "./queue/queue-state";
import { kindOf } from "./decision/sendable";
import { useApprovals } from "./store";
import { useArmed } from "./decision/use-armed";
import { useCardFocus } from "./use-card-focus";
import type { CardFocus } from "./use-card-focus";
import { TOO_EARLY, useDecisionKeys } from "./decision/use-decision-keys";
import { useTold } from "./decision/use-told";
import { showMissing, useWholeInView } from "./card/use-whole-in-view";
import type { Missing } from "./card/use-whole-in-view";
import { useChosenView } from "./diff/view-switch";

export interface Decide {
  /** Returns whether the decision left for the server. */
  decide: (entry: Entry, decision: Decision, feedback: string, terms: Terms) => boolean;
  /** Approves exactly these, as they were shown. */
  approveAll: (requests: { request_id: string; digest: string }[]) => boolean;
}

interface ApprovalPanelProps extends Decide {
  /** Whether the panel has a place of its own, or lies over the page while something waits. */
  isReserved?: boolean;
}

export function ApprovalPanel({ isReserved = false, decide, approveAll }: ApprovalPanelProps) {
  const current = useApprovals(currentEntry);
  const isMinimised = useApprovals((queue) => queue.isMinimised);
  const hold = useApprovals((queue) => queue.hold);
  const entry = isMinimised ? null : current;
  const view = useChosenView((state) => state.view);
  const panel = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const focus = useCardFocus(panel, body, entry);
  return (
    // It holds the focus between two requests, so that neither is decided by a key that was meant for something else.
    <aside
      className={styles.panel}
      ref={panel}
      tabIndex={-1}
      aria-label="Waiting for you"
      data-reserved={isReserved}
      data-empty={entry === null}
      data-view={view}
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(panel.current?.contains(document.activeElement) ?? false)}
    >
      {entry ? <OpenPanel entry={entry} decide={decide} panel={panel} body={body} focus={focus} /> : <EmptyPanel focus={focus} />}
      <BatchSheet approveAll={approveAll} />
    </aside>
  );
}

interface OpenPanelProps extends Pick<Decide, "decide"> {
  entry: Entry;
  panel: React.RefObject<HTMLElement | null>;
  body: React.RefObject<HTMLDivElement | null>;
  focus: CardFocus;
}

function OpenPanel({ entry, decide, panel, body, focus }: OpenPanelProps) {
  const id = entry.request.request_id;
  const queue = useApprovals();
  const draft = queue.drafts[id] ?? "";
  const [showsKeys, setShowsKeys] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const artefact = useRef<HTMLDivElement>(null);
  const approve = useRef<HTMLButtonElement>(null);
  const feedback = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<HTMLTextAreaElement>(null);
  const { missing, seenTo } = useMissing(entry, body, artefact);
  // One that moved is another one, and so is one whose end has just come into view: whoever was about to decide looks again.
  const { isArmed, acceptsKey } = useArmed(`${entry.look} ${missing === null}`);
  const { told, tell } = useTold(entry.look);

  const onDecide = (decision: Decision, terms: Terms = {}) => {
    if (!decide(entry, decision, draft.trim(), terms)) return;
    queue.sent(id, decision, terms);
    focus.decided(conversationKey(entry.request));
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
    else if (approve.current?.dataset["missing"] !== undefined) tell(missingText(missing));
    else if (needsDeliberateApproval(entry.request)) approve.current?.focus();
    else approve.current?.click();
  };
  const move = (step: 1 | -1) => {
    flushSync(() => queue.move(step));
    focus.enter();
  };
  useDecisionKeys({
    panel,
    card,
    acceptsKey,
    tell,
    hop: focus.hop,
    leave: focus.leave,
    approve: onApproveKey,
    writeFeedback: () => feedback.current?.focus(),
    edit: onEdit,
    move,
    minimise: () => queue.minimise(true),
    help: () => setShowsKeys(true),
  });

  return (
    <>
      <QueueBar entry={entry} isLive={queue.isLive && isArmed} onChosen={focus.enter} onHelp={() => setShowsKeys(true)} />
      <ApprovalDialog
        key={entry.look}
        entry={entry}
        place={queue.place}
        draft={draft}
        edit={queue.edits[id] ?? null}
        answers={queue.answers[id] ?? {}}
        isAnswerToEdit={isAnswerToEdit(queue, entry.request)}
        isLive={queue.isLive}
        isArmed={isArmed}
        isInside={focus.isInside}
        missing={missing}
        told={told}
        skew={queue.skew}
        onDraft={(text) => queue.draft(id, text)}
        onDecide={onDecide}
        onMissing={() => {
          showMissing({ scroller: body, artefact }, seenTo.current);
          tell(missingText(missing));
        }}
        onEarly={() => tell(TOO_EARLY)}
        onEdit={onEdit}
        onEdited={(text) => queue.edit(id, text)}
        onAnswer={(answers) => queue.answer(id, answers)}
        onSend={() => approve.current?.click()}
        cardRef={card}
        bodyRef={body}
        artefactRef={artefact}
        editorRef={editor}
        approveRef={approve}
        feedbackRef={feedback}
      />
      {showsKeys && <KeyHelp onClose={() => setShowsKeys(false)} />}
    </>
  );
}

/** What of a request has not been in view yet. Once all of it was, it stays so. */
function useMissing(entry: Entry, scroller: React.RefObject<HTMLElement | null>, artefact: React.RefObject<HTMLElement | null>) {
  const key = seenKey(entry);
  const isSeen = useApprovals((queue) => queue.seen.has(key));
  const see = useApprovals((queue) => queue.see);
  const [found, setFound] = useState<{ key: string; missing: Missing }>({ key: "", missing: "end" });
  const onChange = useCallback(
    (missing: Missing) => {
      if (missing === null) see(key);
      else setFound({ key, missing });
    },
    [key, see],
  );
  const seenTo = useWholeInView({ scroller, artefact }, key, isSeen, onChange);
  const missing: Missing = found.key === key ? found.missing : "end";
  return { missing: isSeen ? null : missing, seenTo };
}

function missingText(missing: Missing): string {
  return missing === "folded" ? "Unfold what is hidden first, then scroll to the end." : "Scroll to the end first.";
}
