import { useEffect, useId, useRef, useState } from "react";
import type { KeyboardEvent } from "react";

import { askedText, questionsOf } from "../../api/asking";
import type { Execution } from "../../api/executions";
import { BLANKS } from "../../lib/visible-text";
import { duration, exactly, moment } from "../../lib/time";
import { Badge } from "../../ui/badge";
import { Icon } from "../../ui/icon";
import { Prose } from "../../ui/prose";
import { Tag } from "../../ui/tag";
import { Visible } from "../../ui/visible";
import { CallDetails } from "./call-details";
import styles from "./history.module.css";
import type { Pictures } from "./pictures";
import { decidedText, placeOf, statusLook } from "./words";

interface CallItemProps extends Pictures {
  row: Execution;
  now: number;
  isOpen: boolean;
  /** Whether Tab stops here. */
  isStop: boolean;
  onOpen: (id: string | null) => void;
  onFocus?: (id: string) => void;
  onReview: (approvalId: string) => void;
}

/** One call in a line, which opens to all that is known of it. */
export function CallItem({ row, now, isOpen, isStop, onOpen, onFocus, ...details }: CallItemProps) {
  const id = useId();
  const item = useRef<HTMLLIElement>(null);
  // Open from the start means that the address names it.
  const [isNamed] = useState(isOpen);
  useEffect(() => {
    if (isNamed) item.current?.scrollIntoView?.({ block: "nearest" });
  }, [isNamed]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.preventDefault();
    onOpen(null);
  };
  return (
    <li className={styles.call} ref={item} data-open={isOpen}>
      <button
        type="button"
        className={styles.row}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        tabIndex={isStop ? 0 : -1}
        onClick={() => onOpen(isOpen ? null : row.tool_id)}
        onFocus={() => onFocus?.(row.tool_id)}
        onKeyDown={onKeyDown}
      >
        <Cells row={row} now={now} showRisk={details.showRisk} />
      </button>
      {isOpen && (
        <div id={id} className={styles.details} role="group" aria-label={`Details of ${row.tool_name}`}>
          <CallDetails row={row} {...details} />
        </div>
      )}
    </li>
  );
}

/** Ours, or what was asked and answered in the words of both. */
function Summary({ row }: { row: Execution }) {
  const asked = askedText(row);
  return asked === null ? <Prose text={row.summary} /> : <Visible text={asked} blanks={BLANKS} />;
}

/** The words between the cells are for those who hear the line without its columns. */
function Cells({ row, now, showRisk }: Pick<CallItemProps, "row" | "now" | "showRisk">) {
  const { word, tone, symbol } = statusLook(row);
  const place = placeOf(row);
  return (
    <>
      <time className={styles.time} dateTime={row.created_at} title={exactly(row.created_at)}>
        {moment(row.created_at, now)}
      </time>{" "}
      <span className={styles.what}>
        <strong>
          <Visible text={row.tool_name} />
        </strong>{" "}
        {row.agent !== undefined && (
          <>
            <Tag icon="branch" spoken="subagent" text={row.agent} />{" "}
          </>
        )}
        <span className={styles.summary}>
          <Summary row={row} />
        </span>
        <span className={styles.belongs}>
          <Visible text={`${row.workspace.name} › ${row.conversation.title || "untitled conversation"} · ${row.agent_name}`} blanks={BLANKS} />
        </span>
      </span>{" "}
      {/* A question does nothing by itself. */}
      <span className={styles.risk}>{questionsOf(row) === null && showRisk(row.risk_level)}</span>{" "}
      <span className={styles.by}>
        <span className={styles.spoken}>decided by </span>
        <Visible text={decidedText(row)} />
      </span>{" "}
      <span className={styles.status}>
        <Badge tone={tone} symbol={symbol}>
          {word}
        </Badge>
      </span>{" "}
      <span className={styles.where}>
        {place.icon && <Icon name={place.icon} />}
        <span className="visually-hidden">where: </span>
        {place.word}
      </span>{" "}
      <span className={styles.took}>
        {row.execution_time_ms !== undefined && (
          <>
            <span className="visually-hidden">took </span>
            {duration(row.execution_time_ms)}
          </>
        )}
      </span>
    </>
  );
}
