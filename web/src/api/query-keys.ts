// The names under which answers of the server are kept. The first word is what `events.ts` calls stale.
import type { ExecutionFilter } from "./executions";
import type { UndoScope } from "./undo";

export const queryKeys = {
  sessions: (projectId: string) => ["sessions", projectId] as const,
  projectList: ["projects", "list"] as const,
  /** A workspace that the list does not have under this name. */
  projectNamed: (name: string) => ["projects", "named", name] as const,
  ruleSet: (projectId: string) => ["rules", projectId] as const,
  /** A question about rules, in the words it was asked with. */
  ruleQuestion: (projectId: string, kind: "check" | "simulate", question: unknown) => ["rule-question", projectId, kind, question] as const,
  executions: (projectId: string, filter: ExecutionFilter) => ["executions", projectId, filter] as const,
  /** One call with all of its result, as it was at this status. */
  execution: (projectId: string, toolId: string, status: string | null) => ["execution", projectId, toolId, status] as const,
  askedFor: (projectId: string, approvalId: string | null, status: string) => ["asked-for", projectId, approvalId, status] as const,
  undoPlan: ({ projectId, of, id }: UndoScope) => ["undo-plan", projectId, of, id] as const,
  /** The lines that one drawing of a diff has loaded. */
  leftOutLines: (drawing: string, requestId: string, file: number | null) => ["left-out-lines", drawing, requestId, file] as const,
};
