// What was left out of a diff that was too long to go with its request.
import { call } from "./client";
import type { Schemas } from "./message";

const APPROVALS = "/my/projects/default/approvals";

export type DiffPage = Schemas["DiffPage"];

/** Some lines of the whole diff of one file: `limit` of them, after `from`. */
export function fetchDiff(requestId: string, file: number, from: number, limit: number): Promise<DiffPage> {
  const stretch = new URLSearchParams({ file: String(file), from: String(from), limit: String(limit) });
  return call<DiffPage>("GET", `${APPROVALS}/${encodeURIComponent(requestId)}/diff?${stretch}`);
}
