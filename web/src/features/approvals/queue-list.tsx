// All that waits, whoever asked and wherever it runs, to pick from.
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { OriginMark } from "./origin-mark";
import styles from "./queue-list.module.css";
import type { Entry } from "./queue-state";
import { RiskBadge } from "./risk-badge";

interface QueueListProps {
  id: string;
  entries: readonly Entry[];
  current: Entry;
  onChoose: (requestId: string) => void;
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
              <Prose text={entry.request.summary} />
            </span>
            <span className={styles.facts}>
              <RiskBadge level={entry.request.risk_level} /> <OriginMark origin={entry.request.origin} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
