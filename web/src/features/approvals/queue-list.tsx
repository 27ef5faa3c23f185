// All that waits, whoever asked and wherever it runs, to pick from.
import { askedText } from "../../api/asking";
import type { ApprovalRequest } from "../../api/message";
import { BLANKS } from "../../lib/visible-text";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { OriginMark } from "./origin-mark";
import styles from "./queue-list.module.css";
import type { Entry } from "./queue-state";
import { RiskBadge } from "./risk-badge";
import { kindOf } from "./sendable";

interface QueueListProps {
  id: string;
  entries: readonly Entry[];
  current: Entry;
  onChoose: (requestId: string) => void;
}

/** Ours, or what the agent asks in its own words. */
function Summary({ request }: { request: ApprovalRequest }) {
  const asked = askedText(request);
  return asked === null ? <Prose text={request.summary} /> : <Visible text={asked} blanks={BLANKS} />;
}

export function QueueList({ id, entries, current, onChoose }: QueueListProps) {
  return (
    <ul id={id} className={styles.list} aria-label="All that waits">
      {entries.map((entry) => (
        <li key={entry.request.request_id}>
          <button
            type="button"
            className={styles.item}
            aria-current={entry === current ? "true" : undefined}
            onClick={() => onChoose(entry.request.request_id)}
          >
            <span className={styles.what}>
              <strong>
                <Visible text={entry.request.tool_name} />
              </strong>{" "}
              <Summary request={entry.request} />
            </span>
            <span className={styles.facts}>
              {kindOf(entry.request) === "call" && <RiskBadge level={entry.request.risk_level} />}{" "}
              <OriginMark origin={entry.request.origin} agent={entry.request.agent} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
