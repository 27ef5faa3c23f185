// The rules of the project over REST.
import { call } from "./client";
import type { Schemas } from "./message";

const RULES = "/my/projects/default/rules";

export type RuleSet = Schemas["RuleList"];
export type RuleView = Schemas["RuleView"];
export type RuleFile = Schemas["RuleFileView"];
/** A rule as it is sent. */
export type RuleInput = Schemas["NewRule"];
export type DraftRule = Schemas["TriedRule"];
export type CheckRequest = Schemas["CheckedCall"];
export type CheckResult = Schemas["CheckView"];
export type CheckReason = Schemas["ReasonView"];
export type Simulation = Schemas["SimulationView"];
export type ChangedCall = Schemas["ChangeView"];
export type Counts = Schemas["TallyView"];

export function fetchRules(): Promise<RuleSet> {
  return call<RuleSet>("GET", RULES);
}

export function replaceRules(version: string, rules: RuleInput[]): Promise<RuleSet> {
  return call<RuleSet>("PUT", RULES, { version, rules });
}

export function revokeRule(id: string): Promise<RuleSet> {
  return call<RuleSet>("DELETE", `${RULES}/${encodeURIComponent(id)}`);
}

export function trustFile(digest: string): Promise<RuleSet> {
  return call<RuleSet>("POST", `${RULES}/trust`, { digest });
}

export function checkCall(request: CheckRequest): Promise<CheckResult> {
  return call<CheckResult>("POST", `${RULES}/check`, request);
}

export function simulateRules(rules: DraftRule[]): Promise<Simulation> {
  return call<Simulation>("POST", `${RULES}/simulate`, { rules });
}
