// The calls on screen, and those that came since. Pure: pages go in, a list comes out, newest first.
import type { CallStatus, Execution, ExecutionPage } from "../../api/executions";

export interface History {
  rows: readonly Execution[];
  /** Where the rows go on; none once all are there. */
  cursor: string | null;
  /** What a look at the first page found, and the rows do not have yet. */
  fresh: Fresh | null;
}

export interface Fresh {
  rows: readonly Execution[];
  /** So much came that there is a gap below: these take the place of all rows, and go on from here. */
  restart: { cursor: string | null } | null;
}

/** Nothing follows on these: they stay as they are. */
const SETTLED: ReadonlySet<CallStatus> = new Set(["completed", "failed", "rejected", "timeout", "cancelled"]);

export function isSettled({ status }: Pick<Execution, "status">): boolean {
  return SETTLED.has(status);
}

export function begun(page: ExecutionPage): History {
  return { rows: page.executions, cursor: page.next_cursor, fresh: null };
}

/** With the next page behind the rows. */
export function continued(history: History, page: ExecutionPage): History {
  return { ...history, rows: merged(history.rows, page.executions), cursor: page.next_cursor };
}

/** With another look at the first page: rows change where they stand, new ones wait to be let in. */
export function refreshed(history: History, page: ExecutionPage): History {
  const known = new Set(history.rows.map((row) => row.tool_id));
  const unknown = page.executions.filter((row) => !known.has(row.tool_id));
  const isGap = history.rows.length > 0 && page.next_cursor !== null && unknown.length === page.executions.length;
  const restart = isGap ? { cursor: page.next_cursor } : null;
  const next = updated(history, page.executions);
  return { ...next, fresh: unknown.length === 0 ? null : { rows: unknown, restart } };
}

/** With what is known now about some of the rows. */
export function updated(history: History, news: readonly Execution[]): History {
  const byId = new Map(news.map((row) => [row.tool_id, row]));
  const rows = history.rows.map((row) => successor(row, byId.get(row.tool_id)));
  return { ...history, rows };
}

/** What is fetched by itself may lack the input. */
function successor(row: Execution, news: Execution | undefined): Execution {
  return news === undefined ? row : { ...news, tool_input: news.tool_input ?? row.tool_input };
}

/** Lets in what came, and lets go what the filter does not mean any more. */
export function settledIn(history: History, status: string): History {
  const { fresh } = history;
  const isMeant = (row: Execution) => status === "" || row.status === status || status === "pending";
  if (fresh?.restart) return { rows: fresh.rows, cursor: fresh.restart.cursor, fresh: null };
  return { ...history, rows: merged(history.rows, fresh?.rows ?? []).filter(isMeant), fresh: null };
}

/** The rows that may have moved on although the first page does not say so: they are not in it. */
export function doubtful(history: History, page: ExecutionPage): string[] {
  const told = new Set(page.executions.map((row) => row.tool_id));
  return history.rows.filter((row) => !isSettled(row) && !told.has(row.tool_id)).map((row) => row.tool_id);
}

function merged(some: readonly Execution[], others: readonly Execution[]): Execution[] {
  const byId = new Map([...some, ...others].map((row) => [row.tool_id, row]));
  return [...byId.values()].toSorted(newestFirst);
}

function newestFirst(a: Execution, b: Execution): number {
  return Date.parse(b.created_at) - Date.parse(a.created_at) || (a.tool_id < b.tool_id ? 1 : -1);
}
