// What was called, whoever ran it, and what came of it.
import { call, inProject } from "./client";
import type { Previewed, Schemas } from "./message";

export type CallStatus = Schemas["CallStatus"];
/** A call, and what came of it. In lists a long result is cut. */
export type Execution = Schemas["ExecutionView"];
export type ExecutionPage = Omit<Schemas["ExecutionList"], "success">;

/** Which calls; what is empty does not matter. */
export interface ExecutionFilter {
  status: string;
  tool: string;
  risk: string;
  session: string;
}

/** What was asked for, as the person saw it who decided. */
export type AskedFor = Previewed & Pick<Schemas["ApprovalView"], "reasons" | "edited" | "asked_again">;

/** A page of calls, the latest first; `cursor` is where the page before it ended. */
export function listExecutions(projectId: string, filter: ExecutionFilter, cursor: string | null): Promise<ExecutionPage> {
  const given = Object.entries({ ...filter, cursor: cursor ?? "" }).filter(([, value]) => value !== "");
  return call<ExecutionPage>("GET", inProject(projectId, `tools/executions?${new URLSearchParams([...given, ["limit", "50"]])}`));
}

/**
 * One call with all of its result. Where an edited input took its place, that one comes, under its own id. The input
 * of another program's call comes as that program is to run it, secrets and all: it is not for showing.
 */
export async function fetchExecution(projectId: string, toolId: string): Promise<Execution> {
  const found = await call<Execution>("GET", inProject(projectId, `tools/${encodeURIComponent(toolId)}`));
  return found.origin === "api" ? { ...found, tool_input: undefined } : found;
}

export async function fetchAskedFor(projectId: string, approvalId: string): Promise<AskedFor> {
  const path = inProject(projectId, `approvals/${encodeURIComponent(approvalId)}`);
  const view = await call<Schemas["OneApproval"]>("GET", path);
  return { ...view, request_id: view.approval_id };
}
