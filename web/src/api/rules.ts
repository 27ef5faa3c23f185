// The rules of a workspace over REST.
import { call, inProject } from "./client";
import type { Schemas } from "./message";

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

export function fetchRules(projectId: string): Promise<RuleSet> {
  return call<RuleSet>("GET", inProject(projectId, "rules"));
}

export function replaceRules(projectId: string, version: string, rules: RuleInput[]): Promise<RuleSet> {
  return call<RuleSet>("PUT", inProject(projectId, "rules"), { version, rules });
}

export function revokeRule(projectId: string, id: string): Promise<RuleSet> {
  return call<RuleSet>("DELETE", inProject(projectId, `rules/${encodeURIComponent(id)}`));
}

export function trustFile(projectId: string, digest: string): Promise<RuleSet> {
  return call<RuleSet>("POST", inProject(projectId, "rules/trust"), { digest });
}

export function checkCall(projectId: string, request: CheckRequest): Promise<CheckResult> {
  return call<CheckResult>("POST", inProject(projectId, "rules/check"), request);
}

export function simulateRules(projectId: string, rules: DraftRule[]): Promise<Simulation> {
  return call<Simulation>("POST", inProject(projectId, "rules/simulate"), { rules });
}
