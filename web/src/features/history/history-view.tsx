// What was called in this project, whoever ran it: newest first. Which calls, and which one is open, is in the address.
import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "wouter";

import { Button } from "../../ui/button";
import { Prose } from "../../ui/prose";
import { Visible } from "../../ui/visible";
import { CallList } from "./call-list";
import { FilterBar } from "./filter-bar";
import { filterOf, isFiltered, queryOf, unfiltered, withCall, withFilter } from "./filter";
import { isSettled } from "./history-state";
import styles from "./history.module.css";
import { LinkedCall } from "./linked-call";
import type { Pictures } from "./pictures";
import { useHistory } from "./store";
import { useHold } from "./use-hold";
import { useLooks } from "./use-looks";

export interface HistoryViewProps extends Pictures {
  /** The workspace whose calls are shown, and what it is called. */
  projectId: string;
  workspace: string | null;
  /** Changes when calls may have. */
  version: number;
  /** Brings a request up to be decided. */
  onReview: (approvalId: string) => void;
}

export function HistoryView({ projectId, workspace, version, ...rest }: HistoryViewProps) {
  const [params, setParams] = useSearchParams();
  const filter = filterOf(params);
  const openId = params.get("call");
  const { history, show, look, letIn, tools } = useHistory();
  const page = useRef<HTMLElement>(null);
  const hold = useHold(page, openId !== null, letIn);
  const query = queryOf(filter);
  useEffect(() => void show(projectId, filterOf(new URLSearchParams(query))), [projectId, query, show]);
  const isOpen = history?.rows.some((row) => !isSettled(row)) ?? false;
  useLooks(version, isOpen, useCallback(() => void look(hold.isHeld), [look, hold.isHeld]));

  const onOpen = (id: string | null) => setParams((now) => withCall(now, id), { replace: true });
  const calls = { openId, onOpen, ...rest };
  const isElsewhere = history !== null && openId !== null && !history.rows.some((row) => row.tool_id === openId);
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
        <Calls {...calls} hold={hold.handlers} isFiltered={isFiltered(filter)} onClear={() => setParams(unfiltered)} />
      </div>
    </main>
  );
}

interface CallsProps extends Omit<HistoryViewProps, "version" | "projectId" | "workspace"> {
  openId: string | null;
  onOpen: (id: string | null) => void;
  hold: ReturnType<typeof useHold>["handlers"];
  isFiltered: boolean;
  onClear: () => void;
}

function Calls({ hold, isFiltered: isPart, onClear, ...calls }: CallsProps) {
  const { projectId, history, error, isLoading, filter, show, letIn } = useHistory();
  if (history === null) {
    if (error === null) return <p className={styles.empty}>Loading the history…</p>;
    return <Problem text={`Could not load the history: ${error}`} onRetry={() => void show(projectId, filter)} />;
  }
  const fresh = history.fresh?.rows.length ?? 0;
  if (history.rows.length === 0 && fresh === 0 && !isLoading) return <Nothing isPart={isPart} onClear={onClear} />;
  return (
    <section className={styles.calls} aria-label="Calls" aria-busy={isLoading} data-stale={isLoading}>
      <CallList rows={history.rows} fresh={fresh} onLetIn={letIn} hold={hold} {...calls} />
      <More />
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
function More() {
  const { history, error, isLoadingMore, more } = useHistory();
  if (error !== null) return <Problem text={`Could not load more: ${error}`} onRetry={() => void more()} />;
  if (history === null || history.cursor === null) return null;
  return (
    <Button className={styles.more} disabled={isLoadingMore} onClick={() => void more()}>
      {isLoadingMore ? "Loading…" : "Show more"}
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
