// What was left out of a diff that was too long to go with its request.
import { call, inProject } from "./client";
import type { Previewed, Schemas } from "./message";

export type DiffPage = Schemas["DiffPage"];

/** Some lines of the whole diff of one file: `limit` of them, after `from`. */
export function fetchDiff(request: Pick<Previewed, "request_id" | "workspace">, file: number, from: number, limit: number): Promise<DiffPage> {
  const stretch = new URLSearchParams({ file: String(file), from: String(from), limit: String(limit) });
  return call<DiffPage>("GET", inProject(request.workspace.project_id, `approvals/${encodeURIComponent(request.request_id)}/diff?${stretch}`));
}
