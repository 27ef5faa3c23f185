// The rows, one tab stop for all of them: arrows go from one to the next.
import { useState } from "react";
import type { KeyboardEvent } from "react";

import type { Execution } from "../../api/executions";
import { useNow } from "../../lib/use-now";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { CallItem } from "./call-item";
import styles from "./history.module.css";
import type { Pictures } from "./pictures";
import type { HoldHandlers } from "./use-hold";

const COLUMNS = ["Time", "Call", "Risk", "Decided by", "Status", "Where", "Took"];

interface CallListProps extends Pictures {
  rows: readonly Execution[];
  /** How many wait to be let in. */
  fresh: number;
  onLetIn: () => void;
  openId: string | null;
  onOpen: (id: string | null) => void;
  onReview: (approvalId: string) => void;
  hold: HoldHandlers;
}

export function CallList({ rows, fresh, onLetIn, openId, hold, ...rest }: CallListProps) {
  const [lastId, setLastId] = useState<string | null>(null);
  const now = useNow(60_000);
  const has = (id: string | null) => rows.some((row) => row.tool_id === id);
  const stop = [lastId, openId].find(has) ?? rows[0]?.tool_id;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    hold.onKeyDown();
    if (moveFocus(event.currentTarget, event)) event.preventDefault();
  };
  return (
    // All of it holds, not only the rows: on the way to the button nothing may move either.
    <div role="presentation" {...hold} onKeyDown={onKeyDown}>
      <div className={styles.fresh} role="status">
        {fresh > 0 && (
          <Button size="small" onClick={onLetIn}>
            <Icon name="up" /> {fresh.toLocaleString("en")} new {fresh === 1 ? "call" : "calls"}
          </Button>
        )}
      </div>
      <div className={styles.columns} aria-hidden="true">
        {COLUMNS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <ol className={styles.list} aria-label="Calls, newest first">
        {rows.map((row) => (
          <CallItem
            key={row.tool_id}
            row={row}
            now={now}
            isOpen={row.tool_id === openId}
            isStop={row.tool_id === stop}
            onFocus={setLastId}
            {...rest}
          />
        ))}
      </ol>
    </div>
  );
}

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

/** Goes from row to row; returns whether the key meant that. */
function moveFocus(list: HTMLElement, { key, target }: KeyboardEvent): boolean {
  const rows = [...list.querySelectorAll<HTMLElement>(":scope > ol > li > button")];
  const at = rows.indexOf(target as HTMLElement);
  const next = at === -1 ? undefined : rows[STEPS[key]?.(at, rows.length - 1) ?? -1];
  next?.focus();
  return next !== undefined;
}
