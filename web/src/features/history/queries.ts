// The history as the server has it: the first page, older ones on request, single calls, and the way back from them.
import { keepPreviousData, skipToken, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";

import { describeError } from "../../api/client";
import { fetchAskedFor, fetchExecution, listExecutions } from "../../api/executions";
import type { AskedFor, Execution, ExecutionFilter } from "../../api/executions";
import { queryKeys } from "../../api/query-keys";
import { carryOutUndo, lookAtUndo } from "../../api/undo";
import type { UndoPlan, UndoScope } from "../../api/undo";
import { begun, continued, doubtful, isSettled, refreshed, settledIn, updated } from "./history-state";
import type { History } from "./history-state";

/** Rows beyond the first page that are asked for one by one. */
const MOST_DOUBTFUL = 20;
/** Nobody tells us how calls of other conversations go on, or of those that asked nobody; so we look now and then. */
const NOW_AND_THEN_MS = 15_000;
/** The same while a call on screen is still to go on. */
const SOON_MS = 4000;

/**
 * The calls on screen; while another filter is asked about, what the last one found. `isHeld` says whether somebody is
 * about to point at a row: then nothing may move.
 */
export function useHistory(projectId: string, filter: ExecutionFilter, isHeld: () => boolean) {
  const client = useQueryClient();
  return useQuery({
    queryKey: queryKeys.executions(projectId, filter),
    queryFn: () => lookAtHistory(client, projectId, filter, isHeld),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => data !== undefined && (data.rows.every(isSettled) ? NOW_AND_THEN_MS : SOON_MS),
    refetchOnWindowFocus: true,
    // Who comes back begins with the newest calls: nothing has to wait to be let in.
    gcTime: 0,
  });
}

/** The first page; where rows are there already, what it changes about them. */
async function lookAtHistory(client: QueryClient, projectId: string, filter: ExecutionFilter, isHeld: () => boolean): Promise<History> {
  const key = queryKeys.executions(projectId, filter);
  const page = await listExecutions(projectId, filter, null);
  const before = client.getQueryData<History>(key);
  if (before === undefined) return begun(page);
  const news = await fetchReachable(projectId, doubtful(before, page).slice(0, MOST_DOUBTFUL));
  // Older calls may have come meanwhile.
  const now = client.getQueryData<History>(key) ?? before;
  const next = updated(refreshed(now, page), news);
  return isHeld() ? next : settledIn(next, filter.status);
}

/** Those of the calls that can be had. */
async function fetchReachable(projectId: string, ids: readonly string[]): Promise<Execution[]> {
  const found = await Promise.all(ids.map((id) => fetchExecution(projectId, id).catch(() => null)));
  return found.filter((row) => row !== null);
}

/** Lets in what came since the rows on screen. */
export function useLetIn(projectId: string, filter: ExecutionFilter): () => void {
  const client = useQueryClient();
  return () => {
    client.setQueryData<History>(queryKeys.executions(projectId, filter), (history) => history && settledIn(history, filter.status));
  };
}

/** Fetches the calls behind a cursor and puts them behind the rows. */
export function useOlderCalls(projectId: string, filter: ExecutionFilter) {
  const client = useQueryClient();
  const key = queryKeys.executions(projectId, filter);
  return useMutation({
    // With another filter a failure of this one is forgotten.
    mutationKey: key,
    mutationFn: (cursor: string) => listExecutions(projectId, filter, cursor),
    onSuccess: (page, cursor) => {
      client.setQueryData<History>(key, (now) => (now?.cursor === cursor ? continued(now, page) : now));
    },
  });
}

/** The call that the address names. */
export function useLinkedCall(projectId: string, id: string) {
  return useQuery({ queryKey: queryKeys.execution(projectId, id, null), queryFn: () => fetchExecution(projectId, id), gcTime: 0 });
}

export interface CallInFull {
  whole: Execution;
  asked: AskedFor | null;
  /** The call that took its place. */
  heirId: string | null;
  /** Why a part of it is not there. */
  error: string | null;
}

/** The call itself and its request, anew whenever it has come further. */
export function useCallInFull(row: Execution): CallInFull {
  const { tool_id: id, approval_id: approvalId, status } = row;
  const { project_id: projectId } = row.workspace;
  const execution = useQuery({
    queryKey: queryKeys.execution(projectId, id, status),
    queryFn: () => fetchExecution(projectId, id),
    placeholderData: keepPreviousData,
  });
  const asked = useQuery({
    queryKey: queryKeys.askedFor(projectId, approvalId ?? null, status),
    queryFn: approvalId === undefined ? skipToken : () => fetchAskedFor(projectId, approvalId),
    placeholderData: keepPreviousData,
  });
  const found = execution.data ?? row;
  const isHeir = found.tool_id !== id;
  const error = execution.error ?? asked.error;
  return {
    // What was found before the list knew better is out of date.
    whole: execution.isPlaceholderData || isHeir ? row : found,
    asked: asked.data ?? null,
    heirId: isHeir ? found.tool_id : null,
    error: error && describeError(error),
  };
}

/** What an undo would do at this moment. */
export function useUndoPlan(scope: UndoScope) {
  return useQuery({ queryKey: queryKeys.undoPlan(scope), queryFn: () => lookAtUndo(scope), gcTime: 0 });
}

/** Does what a plan has shown. */
export function useCarryOutUndo(scope: UndoScope) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ plan, skipRefused }: { plan: UndoPlan; skipRefused: boolean }) => carryOutUndo(scope, plan, skipRefused),
    onSuccess: () => client.invalidateQueries({ queryKey: ["executions"] }),
  });
}
