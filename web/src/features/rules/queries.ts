// The rules as the server has them, changing them, and asking what they would do.
import { keepPreviousData, queryOptions, skipToken, useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { useCallback, useState } from "react";

import { Refused, describeError } from "../../api/client";
import { queryKeys } from "../../api/query-keys";
import { checkCall, fetchRules, replaceRules, revokeRule, simulateRules, trustFile } from "../../api/rules";
import type { CheckRequest, DraftRule, RuleSet } from "../../api/rules";
import { inputOf, rowNamedBy } from "./draft";
import type { Draft, Row } from "./draft";
import { useRuleDraft } from "./draft-store";
import type { RuleProblem } from "./draft-store";

const ruleSetQuery = (projectId: string) =>
  queryOptions({ queryKey: queryKeys.ruleSet(projectId), queryFn: () => fetchRules(projectId) });

export function useRuleSet(projectId: string) {
  return useQuery(ruleSetQuery(projectId));
}

/** Whether a change of the rules is on its way. */
export function useIsChangingRules(projectId: string): boolean {
  return useIsMutating({ mutationKey: queryKeys.ruleSet(projectId) }) > 0;
}

export function useRevokeRule(projectId: string) {
  return useRuleChange(projectId, (id: string) => revokeRule(projectId, id), "Revoked");
}

export function useTrustFile(projectId: string) {
  return useRuleChange(projectId, (digest: string) => trustFile(projectId, digest), "Trusted: its rules hold from now on");
}

function useRuleChange(projectId: string, change: (input: string) => Promise<RuleSet>, done: string) {
  const client = useQueryClient();
  return useMutation({
    mutationKey: queryKeys.ruleSet(projectId),
    mutationFn: change,
    onMutate: () => useRuleDraft.getState().changeSent(),
    onSuccess: async (next) => {
      await keepRuleSet(client, projectId, next);
      if (isOpen(projectId)) useRuleDraft.getState().changeMade(next, done);
    },
    onError: (error) => {
      if (isOpen(projectId)) useRuleDraft.getState().changeRefused(toProblem(error, []));
    },
  });
}

export function useSaveDraft(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationKey: queryKeys.ruleSet(projectId),
    mutationFn: ({ version, rows }: Draft) => replaceRules(projectId, version, rows.map(inputOf)),
    onMutate: () => useRuleDraft.getState().changeSent(),
    onSuccess: async (next) => {
      await keepRuleSet(client, projectId, next);
      if (isOpen(projectId)) useRuleDraft.getState().draftSaved();
    },
    onError: async (error, { rows }) => {
      const outcome = isConflict(error) ? await findConflict(client, projectId) : { problem: toProblem(error, rows) };
      if (!isOpen(projectId)) return;
      if ("stored" in outcome) useRuleDraft.getState().conflictFound(outcome.stored);
      else useRuleDraft.getState().changeRefused(outcome.problem);
    },
  });
}

/** The answer to a change is the rules as they stand: asking once more would tell nothing new. */
async function keepRuleSet(client: QueryClient, projectId: string, next: RuleSet) {
  const { queryKey } = ruleSetQuery(projectId);
  await client.cancelQueries({ queryKey });
  client.setQueryData(queryKey, next);
}

/** Somebody else was quicker: fetches what they made of the rules. */
async function findConflict(client: QueryClient, projectId: string): Promise<{ stored: RuleSet } | { problem: RuleProblem }> {
  try {
    return { stored: await client.fetchQuery(ruleSetQuery(projectId)) };
  } catch (error) {
    return { problem: toProblem(error, []) };
  }
}

/** Whether the person is still where the change was made. */
function isOpen(projectId: string): boolean {
  return useRuleDraft.getState().projectId === projectId;
}

function isConflict(error: Error): boolean {
  return error instanceof Refused && error.status === 409;
}

function toProblem(error: unknown, rows: readonly Row[]): RuleProblem {
  const refused = error instanceof Refused ? error : null;
  const message = describeError(error);
  const isAboutRule = refused?.status === 400;
  const row = isAboutRule ? rowNamedBy(rows, `${message} ${refused?.hint ?? ""}`) : null;
  return { message, hint: refused?.hint ?? null, rowKey: row?.key ?? null };
}

/** What the rules would do with a call. */
export function useCallCheck(projectId: string) {
  return useQuestion(
    (request) => queryKeys.ruleQuestion(projectId, "check", request),
    (request: CheckRequest) => checkCall(projectId, request),
  );
}

/** What rules would have done with the calls that were made. */
export function useSimulation(projectId: string) {
  return useQuestion(
    (rules) => queryKeys.ruleQuestion(projectId, "simulate", rules),
    (rules: DraftRule[]) => simulateRules(projectId, rules),
  );
}

/** A question that is asked when a person says so. Its last answer stays until the next one comes. */
function useQuestion<Question, Answer>(keyOf: (asked: unknown) => QueryKey, answer: (question: Question) => Promise<Answer>) {
  // Counted, because the same question may be asked again.
  const [asked, setAsked] = useState<{ question: Question; count: number } | null>(null);
  const { data, error, isFetching } = useQuery({
    queryKey: keyOf(asked),
    queryFn: asked === null ? skipToken : () => answer(asked.question),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const ask = useCallback((question: Question) => setAsked((before) => ({ question, count: (before?.count ?? 0) + 1 })), []);
  return { answer: data, error: error && describeError(error), isAsking: isFetching, ask };
}
