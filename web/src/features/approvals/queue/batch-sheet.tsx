// "Approve all", before it is said: exactly these, as they are listed here. What comes meanwhile is not among them.
import { useId, useRef, useState } from "react";

import { previewOf } from "../../../api/message";
import type { ApprovalRequest, BatchAnswer } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { Sheet } from "../../../ui/sheet";
import { Visible } from "../../../ui/visible";
import { refusalText } from "./batch-state";
import type { Batch } from "./batch-state";
import styles from "./batch-sheet.module.css";
import { belongingText } from "../card/belonging-line";
import { Summary } from "./queue-list";
import { useApprovals } from "../store";
import { useArmed } from "../decision/use-armed";
import { showMissing, useWholeInView } from "../card/use-whole-in-view";
import type { Missing } from "../card/use-whole-in-view";

interface BatchSheetProps {
  approveAll: (requests: { request_id: string; digest: string }[]) => boolean;
}

export function BatchSheet({ approveAll }: BatchSheetProps) {
  const batch = useApprovals((queue) => queue.batch);
  const sent = useApprovals((queue) => queue.sentBatch);
  const close = useApprovals((queue) => queue.closeBatch);
  if (batch === null) return null;
  const send = () => {
    if (approveAll(batch.requests.map(({ request_id, digest }) => ({ request_id, digest })))) sent();
  };
  return (
    <Sheet title={batch.answers === null ? `Approve ${countOf(batch)}?` : "What was refused"} isWide onClose={close}>
      {batch.answers === null ? <Question batch={batch} onSend={send} onClose={close} /> : <Answers batch={batch} answers={batch.answers} onClose={close} />}
    </Sheet>
  );
}

function countOf({ requests }: Batch): string {
  return requests.length === 1 ? "1 call" : `${requests.length.toLocaleString("en")} calls`;
}

function Question({ batch, onSend, onClose }: { batch: Batch; onSend: () => void; onClose: () => void }) {
  const isLive = useApprovals((queue) => queue.isLive);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const [missing, setMissing] = useState<Missing>("end");
  const note = useId();
  const frame = { scroller, artefact: list, isInSheet: true };
  const seenTo = useWholeInView(frame, "", missing === null, setMissing);
  const { isArmed } = useArmed(`batch ${missing === null}`);
  const rests = !isLive || !isArmed || batch.isSent;
  return (
    <>
      <p className={styles.where}>{batch.requests[0] && <Visible text={belongingText(batch.requests[0])} blanks={BLANKS} />}</p>
      <div className={styles.scroller} ref={scroller} tabIndex={0} role="group" aria-label="Exactly these">
        <ol className={styles.list} ref={list}>
          {batch.requests.map((request) => (
            <Row key={request.request_id} request={request} />
          ))}
        </ol>
      </div>
      <p className={styles.note} id={note} role="status">
        {missing === null ? leftOutText(batch) : "Scroll to the end of the list first."}
      </p>
      <div className={styles.buttons}>
        <Button onClick={onClose} autoFocus>
          Cancel
        </Button>
        <Button
          look="primary"
          disabled={rests}
          data-missing={missing ?? undefined}
          aria-describedby={note}
          onClick={() => (missing === null ? onSend() : showMissing(frame, seenTo.current))}
        >
          {batch.isSent ? "Approving…" : `Approve these ${batch.requests.length.toLocaleString("en")}`}
        </Button>
      </div>
    </>
  );
}

function leftOutText({ leftOut }: Batch): string {
  const arriving = "What arrives from now on is not among them.";
  if (leftOut === 0) return arriving;
  return `${leftOut === 1 ? "1 more of this conversation is" : `${leftOut} more of this conversation are`} left out: decide them one by one. ${arriving}`;
}

/** Everything that tells it apart: a command whole, a change by its file and its lines. */
function Row({ request }: { request: ApprovalRequest }) {
  const { command } = previewOf(request);
  const { added, removed } = request.diff_stat ?? { added: 0, removed: 0 };
  return (
    <li className={styles.row} data-part data-request={request.request_id}>
      <strong>
        <Visible text={request.tool_name} />
      </strong>{" "}
      {command === undefined ? (
        <Summary request={request} />
      ) : (
        <code className={styles.command}>
          <Visible text={command} blanks={BLANKS} emptyLines />
        </code>
      )}{" "}
      {added + removed > 0 && (
        <span className={styles.lines}>
          +{added} −{removed}
        </span>
      )}
    </li>
  );
}

function Answers({ batch, answers, onClose }: { batch: Batch; answers: readonly BatchAnswer[]; onClose: () => void }) {
  const approved = answers.filter(({ outcome }) => outcome === "approved").length;
  const refused = answers.filter(({ outcome }) => outcome === "refused");
  const requestOf = (id: string) => batch.requests.find((request) => request.request_id === id);
  return (
    <>
      <p role="status">
        {approved.toLocaleString("en")} approved, {refused.length.toLocaleString("en")} refused.
      </p>
      <ul className={styles.list}>
        {refused.map((answer) => {
          const request = requestOf(answer.request_id);
          return (
            <li key={answer.request_id} className={styles.row}>
              <Badge tone="danger" symbol="✕">
                Refused
              </Badge>{" "}
              {request && (
                <>
                  <strong>
                    <Visible text={request.tool_name} />
                  </strong>{" "}
                  <Summary request={request} />:{" "}
                </>
              )}
              <Visible text={refusalText(answer)} blanks={BLANKS} />
            </li>
          );
        })}
      </ul>
      <div className={styles.buttons}>
        <Button onClick={onClose} autoFocus>
          Close
        </Button>
      </div>
    </>
  );
}
