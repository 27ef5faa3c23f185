// One request, in the order in which it is judged: where it belongs, what it does, how risky, the artefact itself, then why we ask.
import { useId, useState } from "react";
import type { Ref, RefObject } from "react";

import { isPersonal, questionsOf } from "../../../api/asking";
import { previewOf } from "../../../api/message";
import type { ApprovalRequest } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { Button } from "../../../ui/button";
import { CappedText } from "../../../ui/capped-text";
import { Prose } from "../../../ui/prose";
import { Visible } from "../../../ui/visible";
import type { Answers } from "../decision/answers";
import styles from "./approval-dialog.module.css";
import { Artefact } from "../preview/artefact";
import { AskedAgain } from "./asked-again";
import { BelongingLine } from "./belonging-line";
import { Countdown } from "./countdown";
import { DecisionBar } from "../decision/decision-bar";
import { InputEditor } from "../decision/input-editor";
import { MoreBelow } from "./more-below";
import { OriginMark } from "./origin-mark";
import { QuestionFields } from "../decision/question-fields";
import type { Place } from "../queue/queue-order";
import type { Decision, Entry, Terms } from "../queue/queue-state";
import { RiskBadge } from "./risk-badge";
import { kindOf, wordsFor } from "../decision/sendable";
import type { Told } from "../decision/use-told";
import type { Missing } from "./use-whole-in-view";

interface ApprovalDialogProps {
  entry: Entry;
  /** What is open on the page. */
  place: Place;
  draft: string;
  /** What the editor holds; none while it is closed. */
  edit: string | null;
  /** What the person is about to answer, where it is a question. */
  answers: Answers;
  isAnswerToEdit: boolean;
  isLive: boolean;
  isArmed: boolean;
  /** Whether the person has moved into the card. */
  isInside: boolean;
  /** What of it has not been in view. */
  missing: Missing;
  told: Told | null;
  skew: number;
  onDraft: (text: string) => void;
  onDecide: (decision: Decision, terms?: Terms) => void;
  /** Goes on towards what is missing. */
  onMissing: () => void;
  onEarly: () => void;
  onEdit: () => void;
  onEdited: (text: string | null) => void;
  onAnswer: (answers: Answers) => void;
  onSend: () => void;
  cardRef: Ref<HTMLDivElement>;
  bodyRef: RefObject<HTMLDivElement | null>;
  artefactRef: RefObject<HTMLDivElement | null>;
  editorRef: Ref<HTMLTextAreaElement>;
  approveRef: Ref<HTMLButtonElement>;
  feedbackRef: Ref<HTMLTextAreaElement>;
}

export function ApprovalDialog(props: ApprovalDialogProps) {
  const { skew, place, cardRef, bodyRef, artefactRef, editorRef, isAnswerToEdit, onEdited, onAnswer, onSend, ...bar } = props;
  const { edit } = bar;
  const { request } = bar.entry;
  const summary = useId();
  const [hiddenLines, setHiddenLines] = useState(0);
  return (
    <div
      className={styles.dialog}
      ref={cardRef}
      role="dialog"
      aria-label={`${request.tool_name}: ${wordsFor(request).needed}`}
      aria-describedby={summary}
      data-risk={kindOf(request) === "call" ? request.risk_level : undefined}
    >
      {/* Focus lands here and not on a button: keys scroll, and nothing is one Enter away. */}
      <div className={styles.body} ref={bodyRef} tabIndex={0} role="group" aria-label="What will run">
        <header className={styles.header}>
          <h2 className={styles.title}>
            <Visible text={request.tool_name} />
            <span className={styles.needed}>: {wordsFor(request).needed}</span>
          </h2>
          {kindOf(request) === "call" && <RiskBadge level={request.risk_level} />}
          <OriginMark origin={request.origin} agent={request.agent} />
          <Countdown expiresAt={request.expires_at} skew={skew} />
        </header>
        <BelongingLine request={request} place={place} />
        <p id={summary} className={styles.summary}>
          <Prose text={summaryOf(request)} />
        </p>
        <Path request={request} />
        <AskedAgain request={request} isAnswerToEdit={isAnswerToEdit} />
        <p className={styles.plan}>{wordsFor(request).note}</p>
        <Questions request={request} answers={bar.answers} onAnswer={onAnswer} onSend={onSend} />
        {edit !== null && (
          <InputEditor
            request={request}
            text={edit}
            onChange={onEdited}
            onClose={() => onEdited(null)}
            fieldRef={editorRef}
          />
        )}
        <div ref={artefactRef}>
          {hasArtefact(request) && <Artefact request={request} onHidden={setHiddenLines} />}
        </div>
        <Why request={request} />
        <AgentSays text={previewOf(request).description} />
        <RawInput request={request} />
      </div>
      <MoreBelow scroller={bodyRef} content={artefactRef} />
      <DecisionBar hiddenLines={hiddenLines} {...bar} />
    </div>
  );
}

/** The server's words, save for a command: it stands below in full, and half of it above would only be in the way. */
function summaryOf(request: ApprovalRequest): string {
  const { preview_type: kind, summary } = request;
  return wordsFor(request).summary ?? (kind === "command" ? "Run this command" : summary);
}

/** Questions are their own picture, and leave to plan has none. */
function hasArtefact(request: ApprovalRequest): boolean {
  return kindOf(request) === "call" || kindOf(request) === "plan";
}

function Questions({ request, ...rest }: Pick<ApprovalDialogProps, "answers" | "onAnswer" | "onSend"> & { request: ApprovalRequest }) {
  const questions = questionsOf(request);
  return questions && <QuestionFields questions={questions} answers={rest.answers} onChange={rest.onAnswer} onSend={rest.onSend} />;
}

/** Only where the summary does not name it already, or had to shorten it. */
function Path({ request: { file_path: path, summary } }: { request: ApprovalRequest }) {
  if (!path || summary.includes(`\`${path}\``)) return null;
  return (
    <p className={styles.path}>
      <Visible text={path} blanks={BLANKS} />
    </p>
  );
}

/** More than these would push away what they are about. */
const FIRST_REASONS = 6;

function Why({ request }: { request: ApprovalRequest }) {
  const [isWhole, setWhole] = useState(false);
  // What is asked of the person does nothing by itself, and why it is asked goes without saying.
  if (kindOf(request) !== "call" || request.reasons.length === 0) return null;
  const isLong = request.reasons.length > FIRST_REASONS + 1 && !isWhole;
  const first = isLong ? request.reasons.slice(0, FIRST_REASONS) : request.reasons;
  return (
    <div className={styles.why}>
      <h3>Why you are asked</h3>
      <ul aria-label="Why you are asked">
        {first.map((reason) => (
          <li key={reason}>
            <Prose text={reason} />
          </li>
        ))}
        {isLong && (
          <li>
            <Button look="quiet" size="small" onClick={() => setWhole(true)}>
              Show {(request.reasons.length - FIRST_REASONS).toLocaleString("en")} more reasons
            </Button>
          </li>
        )}
      </ul>
    </div>
  );
}

/** The model's own words: plain text, apart from what we derived ourselves. */
function AgentSays({ text }: { text: string | null | undefined }) {
  if (!text) return null;
  return (
    <figure className={styles.says}>
      <figcaption>The agent says</figcaption>
      <p>
        <Visible text={text} blanks={BLANKS} emptyLines />
      </p>
    </figure>
  );
}

function RawInput({ request }: { request: ApprovalRequest }) {
  const [isOpen, setOpen] = useState(false);
  if (request.preview_type === "generic" && !isPersonal(request)) return null;
  return (
    <details className={styles.raw} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Raw input</summary>
      {isOpen && <CappedText label="Raw input" text={JSON.stringify(request.tool_input, null, 2)} isSuspect />}
    </details>
  );
}
