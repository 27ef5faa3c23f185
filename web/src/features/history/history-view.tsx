// What was called in this project, whoever ran it: newest first. Which calls, and which one is open, is in the address.
import { useRef, useState } from "react";
import { useSearchParams } from "wouter";

import { describeError } from "../../api/client";
import type { Execution, ExecutionFilter } from "../../api/executions";
import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { CallList } from "./call-list";
import { FilterBar } from "./filter-bar";
import { filterOf, isFiltered, unfiltered, withCall, withFilter } from "./filter";
import type { History } from "./history-state";
import styles from "./history.module.css";
import { LinkedCall } from "./linked-call";
import type { Pictures } from "./pictures";
import { useHistory, useLetIn, useOlderCalls } from "./queries";
import { useHold } from "./use-hold";

export interface HistoryViewProps extends Pictures {
  /** The workspace whose calls are shown, and what it is called. */
  projectId: string;
  workspace: string | null;
  /** Brings a request up to be decided. */
  onReview: (approvalId: string) => void;
}

export function HistoryView({ projectId, workspace, ...rest }: HistoryViewProps) {
  const [params, setParams] = useSearchParams();
  const filter = filterOf(params);
  const openId = params.get("call");
  const page = useRef<HTMLElement>(null);
  const letIn = useLetIn(projectId, filter);
  const hold = useHold(page, openId !== null, letIn);
  const { data: history, error, isPlaceholderData, refetch } = useHistory(projectId, filter, hold.isHeld);
  const tools = useSeenTools(history?.rows ?? NO_ROWS);

  const onOpen = (id: string | null) => setParams((now) => withCall(now, id), { replace: true });
  const calls = { openId, onOpen, ...rest };
  const isElsewhere = history !== undefined && openId !== null && !history.rows.some((row) => row.tool_id === openId);
  return (
    <main className={styles.page} ref={page}>
      <div className={styles.inner}>
        <header className={styles.header}>
          <h1>History</h1>
          <p>
            What was called in {workspace === null ? "this workspace" : <Visible text={workspace} />}, whoever asked and wherever it ran.
          </p>
        </header>
        <FilterBar
          filter={filter}
          tools={tools}
          onChange={(change) => setParams((now) => withFilter(now, change))}
          onClear={() => setParams(unfiltered)}
        />
        {isElsewhere && <LinkedCall {...calls} projectId={projectId} id={openId} />}
        {history ? (
          <Calls
            {...calls}
            projectId={projectId}
            filter={filter}
            history={history}
            isStale={isPlaceholderData}
            hold={hold.handlers}
            onLetIn={letIn}
            onClear={() => setParams(unfiltered)}
          />
        ) : (
          <NotLoaded error={error} onRetry={() => void refetch()} />
        )}
      </div>
    </main>
  );
}

const NO_ROWS: readonly Execution[] = [];

/** The names of tools that were seen, whichever filter they were seen with. */
function useSeenTools(rows: readonly Execution[]): ReadonlySet<string> {
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  if (rows.every((row) => seen.has(row.tool_name))) return seen;
  const next = new Set([...seen, ...rows.map((row) => row.tool_name)]);
  setSeen(next);
  return next;
}

function NotLoaded({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  if (error === null) return <p className={styles.empty}>Loading the history…</p>;
  return <Problem text={`Could not load the history: ${describeError(error)}`} onRetry={onRetry} />;
}

interface CallsProps extends Omit<HistoryViewProps, "workspace"> {
  filter: ExecutionFilter;
  history: History;
  /** They are those of the last filter. */
  isStale: boolean;
  openId: string | null;
  onOpen: (id: string | null) => void;
  hold: ReturnType<typeof useHold>["handlers"];
  onLetIn: () => void;
  onClear: () => void;
}

function Calls({ projectId, filter, history, isStale, onClear, ...calls }: CallsProps) {
  const fresh = history.fresh?.rows.length ?? 0;
  if (history.rows.length === 0 && fresh === 0 && !isStale) return <Nothing isPart={isFiltered(filter)} onClear={onClear} />;
  return (
    <section className={styles.calls} aria-label="Calls" aria-busy={isStale} data-stale={isStale}>
      <CallList rows={history.rows} fresh={fresh} {...calls} />
      <OlderCalls projectId={projectId} filter={filter} cursor={isStale ? null : history.cursor} />
    </section>
  );
}

function Nothing({ isPart, onClear }: { isPart: boolean; onClear: () => void }) {
  if (!isPart) return <p className={styles.empty}>No calls yet. What an agent calls appears here, whoever runs it.</p>;
  return (
    <div className={styles.empty}>
      <p>No call fits this filter.</p>
      <Button size="small" onClick={onClear}>
        Show all calls
      </Button>
    </div>
  );
}

/** The way to older calls, and what went wrong on it. */
function OlderCalls({ projectId, filter, cursor }: { projectId: string; filter: ExecutionFilter; cursor: string | null }) {
  const { mutate, isPending, error } = useOlderCalls(projectId, filter);
  if (cursor === null) return null;
  if (error !== null) return <Problem text={`Could not load more: ${describeError(error)}`} onRetry={() => mutate(cursor)} />;
  return (
    <Button className={styles.more} disabled={isPending} onClick={() => mutate(cursor)}>
      {isPending ? "Loading…" : "Show more"}
    </Button>
  );
}

function Problem({ text, onRetry }: { text: string; onRetry: () => void }) {
  return (
    <div className={styles.problem} role="alert">
      <p>
        <Prose text={text} />
      </p>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}
