// All that is known of a call: what it waits for, what the person saw, what they said, what came of it.
import type { ReactNode } from "react";

import { isPersonal } from "../../api/asking";
import type { AskedFor, Execution } from "../../api/executions";
import { duration, exactly } from "../../lib/time";
import { BLANKS } from "../../lib/visible-text";
import { Button } from "../../ui/button";
import { CappedText } from "../../ui/capped-text";
import { PageLink } from "../../ui/page-link";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { CallOutcome } from "./call-outcome";
import styles from "./call-details.module.css";
import type { Pictures } from "./pictures";
import { useCallInFull } from "./queries";
import { UndoButtons } from "./undo-buttons";
import { decidedText, placeOf, waitText } from "./words";

interface CallDetailsProps extends Pictures {
  /** As the list has it: a long result is cut there. */
  row: Execution;
  onReview: (approvalId: string) => void;
}

export function CallDetails({ row, showPreview, onReview }: CallDetailsProps) {
  const { whole, asked, heirId, error } = useCallInFull(row);
  const wait = waitText(whole);
  return (
    <>
      {error !== null && <p className={styles.problem}>Not everything could be loaded: {error}</p>}
      {wait !== null && (
        <p className={styles.wait}>
          {wait}
          {row.status === "awaiting_approval" && row.approval_id !== undefined && (
            <Button size="small" onClick={() => onReview(row.approval_id ?? "")}>
              Review
            </Button>
          )}
        </p>
      )}
      {heirId !== null && (
        <p className={styles.note}>
          It was edited, and <PageLink href={`/history?call=${encodeURIComponent(heirId)}`}>another request</PageLink> took its place.
        </p>
      )}
      {/* What was answered is what came of a question; that the agent heard it comes after. */}
      {asked && isPersonal(asked) && <Asked asked={asked} showPreview={showPreview} />}
      <CallOutcome call={whole} />
      <UndoButtons call={whole} showPreview={showPreview} />
      <Feedback call={whole} />
      {asked && !isPersonal(asked) && <Asked asked={asked} showPreview={showPreview} />}
      <Input
        input={row.tool_input ?? asked?.tool_input}
        isAside={asked !== null && (asked.preview_type !== "generic" || isPersonal(asked))}
      />
      <CanonicalForm call={whole} />
      <Facts call={whole} />
    </>
  );
}

function Feedback({ call: { feedback, decided_by: by } }: { call: Execution }) {
  if (!feedback) return null;
  return (
    <figure className={styles.says}>
      <figcaption>{by === undefined ? "Feedback" : <Visible text={`${by} said`} />}</figcaption>
      <p>
        <Visible text={feedback} emptyLines />
      </p>
    </figure>
  );
}

function Asked({ asked, showPreview }: { asked: AskedFor; showPreview: Pictures["showPreview"] }) {
  return (
    <section className={styles.part} aria-label="What was asked">
      <h2>What was asked</h2>
      {asked.reasons.length > 0 && !isPersonal(asked) && (
        <ul className={styles.reasons} aria-label="Why it asked">
          {asked.reasons.map((reason) => (
            <li key={reason}>
              <Prose text={reason} />
            </li>
          ))}
        </ul>
      )}
      {asked.asked_again !== null && (
        <p className={styles.note}>
          Asked again: <Prose text={asked.asked_again} />
        </p>
      )}
      {showPreview(asked)}
      {/* An answer is no edit: it stands above beside its question. */}
      {asked.edited && !isPersonal(asked) && (
        <details className={styles.aside}>
          <summary>Edited by hand: this is not what the agent asked for</summary>
          <CappedText label="What the agent asked for" text={JSON.stringify(asked.edited.original_input, null, 2)} isSuspect />
        </details>
      )}
    </section>
  );
}

/** `isAside`: its picture stands above already. */
function Input({ input, isAside }: { input: unknown; isAside: boolean }) {
  if (input === undefined) return null;
  const text = JSON.stringify(input, null, 2);
  if (!isAside) {
    return (
      <section className={styles.part}>
        <h2>Input</h2>
        <CappedText label="Input" text={text} isSuspect />
      </section>
    );
  }
  return (
    <details className={styles.aside}>
      <summary>Raw input</summary>
      <CappedText label="Raw input" text={text} isSuspect />
    </details>
  );
}

/** What ran in the place of a command that nobody was asked about. */
function CanonicalForm({ call }: { call: Execution }) {
  if (call.canonical === undefined || call.requires_approval) return null;
  return (
    <section className={styles.part}>
      <h2>Executed as</h2>
      <CappedText label="Executed as" text={call.canonical} isSuspect />
    </section>
  );
}

function Facts({ call }: { call: Execution }) {
  const { session_id: session, decided_at: decidedAt, completed_at: completedAt, execution_time_ms: took } = call;
  return (
    <dl className={styles.facts}>
      <Fact name="Asked">
        {exactly(call.created_at)} by <Visible text={call.agent_name} blanks={BLANKS} />: {placeOf(call).asker}
        {call.agent !== undefined && (
          <>
            {"; wanted by its subagent "}
            <Visible text={call.agent} blanks={BLANKS} />
          </>
        )}
      </Fact>
      <Fact name="Decided">
        by <Visible text={decidedText(call)} />
        {decidedAt !== undefined && `, ${exactly(decidedAt)}`}
      </Fact>
      {completedAt !== undefined && (
        <Fact name="Ended">
          {exactly(completedAt)}
          {took !== undefined && `, after ${duration(took)}`}
        </Fact>
      )}
      <Fact name="Workspace">
        <Visible text={call.workspace.name} blanks={BLANKS} />, {" "}
        <code>
          <Visible text={call.workspace.root} blanks={BLANKS} />
        </code>
      </Fact>
      <Fact name="Conversation">
        <Visible text={call.conversation.title || "untitled"} blanks={BLANKS} />
        {" · "}
        {call.run_id !== null && (
          <>
            <PageLink href={`/agent/${encodeURIComponent(session)}`}>open it</PageLink>
            {" · "}
          </>
        )}
        <PageLink href={`/history?session=${encodeURIComponent(session)}`}>all its calls</PageLink>
      </Fact>
      <Fact name="Id">
        <code>
          <Visible text={call.tool_id} blanks={BLANKS} />
        </code>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
