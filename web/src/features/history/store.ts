// The history as the server has it: the first page, more on request, and another look when something may have changed.
import { create } from "zustand";

import { NotSignedIn } from "../../api/client";
import { fetchExecution, listExecutions } from "../../api/executions";
import type { Execution, ExecutionFilter, ExecutionPage } from "../../api/executions";
import { queryOf } from "./filter";
import { begun, continued, doubtful, refreshed, settledIn, updated } from "./history-state";
import type { History } from "./history-state";

/** Rows beyond the first page that are asked for one by one. */
const MOST_DOUBTFUL = 20;

interface HistoryStore {
  /** The workspace it is the history of. */
  projectId: string;
  filter: ExecutionFilter;
  /** None until the first page is there. While another filter is asked about, what the last one found. */
  history: History | null;
  error: string | null;
  isLoading: boolean;
  isLoadingMore: boolean;
  /** The names of tools that were seen, whichever filter they were seen with. */
  tools: ReadonlySet<string>;

  show: (projectId: string, filter: ExecutionFilter) => Promise<void>;
  more: () => Promise<void>;
  /** Looks again. `isHeld` says whether somebody is about to point at a row: then nothing may move. */
  look: (isHeld: () => boolean) => Promise<void>;
  /** Lets in what came meanwhile. */
  letIn: () => void;
}

const EVERYTHING: ExecutionFilter = { status: "", tool: "", risk: "", session: "" };

export const useHistory = create<HistoryStore>()((set, get) => {
  /** Whether nobody has asked for something else meanwhile. */
  const isAsked = (projectId: string, filter: ExecutionFilter) => get().projectId === projectId && queryOf(get().filter) === queryOf(filter);
  const accept = (history: History, page: ExecutionPage) =>
    set(({ tools }) => ({ history, tools: withNames(tools, page) }));

  return {
    projectId: "",
    filter: EVERYTHING,
    history: null,
    error: null,
    isLoading: true,
    isLoadingMore: false,
    tools: new Set(),

    async show(projectId, filter) {
      // What another workspace had called is not what the last filter found here.
      set((before) => ({ projectId, filter, error: null, isLoading: true, ...(before.projectId === projectId ? {} : { history: null, tools: new Set() }) }));
      try {
        const page = await listExecutions(projectId, filter, null);
        if (!isAsked(projectId, filter)) return;
        accept(begun(page), page);
        set({ isLoading: false });
      } catch (error) {
        if (isAsked(projectId, filter)) set({ history: null, error: messageOf(error), isLoading: false });
      }
    },

    async more() {
      const { projectId, filter, history, isLoadingMore } = get();
      const cursor = history?.cursor ?? null;
      if (cursor === null || isLoadingMore) return;
      set({ error: null, isLoadingMore: true });
      try {
        const page = await listExecutions(projectId, filter, cursor);
        const { history: now } = get();
        if (isAsked(projectId, filter) && now?.cursor === cursor) accept(continued(now, page), page);
      } catch (error) {
        if (isAsked(projectId, filter)) set({ error: messageOf(error) });
      } finally {
        set({ isLoadingMore: false });
      }
    },

    async look(isHeld) {
      const { projectId, filter, history, isLoading } = get();
      if (history === null || isLoading) return;
      try {
        const page = await listExecutions(projectId, filter, null);
        const news = await fetchAll(projectId, doubtful(history, page).slice(0, MOST_DOUBTFUL));
        const { history: now, isLoading: isOutdated } = get();
        if (!isAsked(projectId, filter) || isOutdated || now === null) return;
        const next = updated(refreshed(now, page), news);
        accept(isHeld() ? next : settledIn(next, filter.status), page);
      } catch {
        // No news: the next look may find some.
      }
    },

    letIn: () => set(({ history, filter }) => ({ history: history && settledIn(history, filter.status) })),
  };
});

/** Those of the calls that can be had. */
async function fetchAll(projectId: string, ids: readonly string[]): Promise<Execution[]> {
  const found = await Promise.all(ids.map((id) => fetchExecution(projectId, id).catch(() => null)));
  return found.filter((row) => row !== null);
}

function withNames(tools: ReadonlySet<string>, { executions }: ExecutionPage): ReadonlySet<string> {
  const names = executions.map((row) => row.tool_name);
  return names.every((name) => tools.has(name)) ? tools : new Set([...tools, ...names]);
}

export function messageOf(error: unknown): string {
  if (error instanceof NotSignedIn) return "You are not signed in any more.";
  return error instanceof Error ? error.message : String(error);
}
