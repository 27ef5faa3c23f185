// All that waits, whoever asked and wherever it runs, by conversation, to pick from.
import { askedText } from "../../../api/asking";
import type { ApprovalRequest } from "../../../api/message";
import { BLANKS } from "../../../lib/visible-text";
import { Prose } from "../../../ui/prose";
import { Visible } from "../../../ui/visible";
import { ApproveAll } from "./approve-all";
import { BelongingLine } from "../card/belonging-line";
import { OriginMark } from "../card/origin-mark";
import styles from "./queue-list.module.css";
import { groupsOf } from "./queue-order";
import type { Group } from "./queue-order";
import type { Entry } from "./queue-state";
import { RiskBadge } from "../card/risk-badge";
import { kindOf } from "../decision/sendable";
import { useApprovals } from "../store";

interface QueueListProps {
  id: string;
  /** In the order in which they are gone through. */
  entries: readonly Entry[];
  current: Entry | null;
  isLive: boolean;
  onChoose: (requestId: string) => void;
}

/** Ours, or what the agent asks in its own words. */
export function Summary({ request }: { request: ApprovalRequest }) {
  const asked = askedText(request);
  return asked === null ? <Prose text={request.summary} /> : <Visible text={asked} blanks={BLANKS} />;
}

export function QueueList({ id, entries, current, isLive, onChoose }: QueueListProps) {
  const place = useApprovals((queue) => queue.place);
  return (
    <ul id={id} className={styles.list} aria-label="All that waits">
      {groupsOf(entries, place).map((group) => (
        <li key={group.key} className={styles.group}>
          <GroupHead group={group} isLive={isLive} />
          <ul className={styles.items}>
            {group.entries.map((entry) => (
              <Item key={entry.request.request_id} entry={entry} isCurrent={entry === current} onChoose={onChoose} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function GroupHead({ group: { key, entries }, isLive }: { group: Group; isLive: boolean }) {
  const place = useApprovals((queue) => queue.place);
  const first = entries[0];
  if (!first) return null;
  return (
    <div className={styles.head}>
      <BelongingLine request={first.request} place={place} />
      <ApproveAll conversation={key} isLive={isLive} />
    </div>
  );
}

function Item({ entry: { request }, isCurrent, onChoose }: { entry: Entry; isCurrent: boolean } & Pick<QueueListProps, "onChoose">) {
  return (
    <li>
      <button type="button" className={styles.item} aria-current={isCurrent ? "true" : undefined} onClick={() => onChoose(request.request_id)}>
        <span className={styles.what}>
          <strong>
            <Visible text={request.tool_name} />
          </strong>{" "}
          <Summary request={request} />
        </span>
        <span className={styles.facts}>
          {kindOf(request) === "call" && <RiskBadge level={request.risk_level} />} <OriginMark origin={request.origin} agent={request.agent} />
        </span>
      </button>
    </li>
  );
}
