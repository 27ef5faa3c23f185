// The rules of the project over REST. The types are written by hand until `docs/openapi.json` has them:
// then each becomes `Schemas["…"]` and the calls stay.
import type { CommandPart, Outcome, Proposal } from "./approval-extras";
import { call } from "./client";
import type { RiskLevel } from "./message";

const RULES = "/my/projects/default/rules";

export type RuleSource = "project" | "session" | "user" | "workspace";

export interface RuleView {
  /** Rules of files have none: they are changed where they stand. */
  id: string | null;
  effect: Outcome;
  rule: string;
  why: string | null;
  source: RuleSource;
  session_id: string | null;
  origin: { kind: "page" | "approval" | "file"; approval_id: string | null; path: string | null };
  created_by: string | null;
  created_at: string | null;
  expires_at: string | null;
  uses: number;
  last_used_at: string | null;
  /** False while its file is not trusted. */
  holds: boolean;
  warnings: string[];
}

export interface RuleFile {
  source: "user" | "workspace";
  path: string;
  present: boolean;
  trusted: boolean;
  digest: string | null;
  /** Why it cannot be read; everything asks meanwhile. */
  broken: string | null;
  problems: { rule: string; why: string; outcome: string }[];
}

export interface RuleSet {
  /** Of all that holds; a change is refused when it is not what stands any more. */
  version: string;
  mode: string;
  rules: RuleView[];
  files: RuleFile[];
  next_cursor: string | null;
}

/** A rule as it is sent. Fields that say nothing are left out. */
export interface RuleInput {
  id?: string;
  effect: Outcome;
  rule: string;
  why?: string;
  expires_at?: string;
}

export type DraftRule = Pick<RuleInput, "effect" | "rule">;

export interface CheckRequest {
  tool_name: string;
  tool_input: unknown;
  mode?: string;
  rules?: DraftRule[];
}

export interface CheckReason {
  outcome: string;
  text: string;
  /** Which command of the line it is about. */
  part: number | null;
  rule: { rule: string; source: string; id?: string | null; why?: string | null } | null;
}

export interface CheckResult {
  verdict: Outcome;
  risk_level: RiskLevel;
  summary: string;
  reasons: CheckReason[];
  commands: CommandPart[];
  proposals: Proposal[];
  explanation: string;
}

export type Counts = Record<Outcome, number>;

export interface ChangedCall {
  tool_id: string;
  tool_name: string;
  summary: string;
  created_at: string;
  before: Outcome;
  after: Outcome;
  decided: "approved" | "rejected" | "timeout" | "cancelled" | null;
  /** It would run although a person rejected it, or be denied although a person approved it. */
  contradicts: boolean;
  rules: string[];
}

export interface Simulation {
  replayed: number;
  before: Counts;
  after: Counts;
  changed: ChangedCall[];
}

export function fetchRules(): Promise<RuleSet> {
  return call<RuleSet>("GET", RULES).then(withAllPages);
}

export function replaceRules(version: string, rules: RuleInput[]): Promise<RuleSet> {
  return call<RuleSet>("PUT", RULES, { version, rules }).then(withAllPages);
}

export function revokeRule(id: string): Promise<RuleSet> {
  return call<RuleSet>("DELETE", `${RULES}/${encodeURIComponent(id)}`).then(withAllPages);
}

export function trustFile(digest: string): Promise<RuleSet> {
  return call<RuleSet>("POST", `${RULES}/trust`, { digest }).then(withAllPages);
}

export function checkCall(request: CheckRequest): Promise<CheckResult> {
  return call<CheckResult>("POST", `${RULES}/check`, request);
}

export function simulateRules(rules: DraftRule[]): Promise<Simulation> {
  return call<Simulation>("POST", `${RULES}/simulate`, { rules });
}

/** Saving replaces all rules of the project, so a page that knows only some of them would drop the others. */
async function withAllPages(first: RuleSet): Promise<RuleSet> {
  const rules = [...first.rules];
  let cursor = first.next_cursor ?? null;
  while (cursor !== null) {
    const next = await call<RuleSet>("GET", `${RULES}?cursor=${encodeURIComponent(cursor)}`);
    rules.push(...next.rules);
    cursor = next.next_cursor === cursor ? null : (next.next_cursor ?? null);
  }
  return { ...first, rules, next_cursor: null };
}
