// Rules as the server sends them, for tests.
import type { CheckResult, RuleFile, RuleSet, RuleView, Simulation } from "../api/rules";

export function ruleView(change: Partial<RuleView> = {}): RuleView {
  return {
    id: "01A",
    effect: "allow",
    rule: "Bash(cargo test:*)",
    why: null,
    source: "project",
    session_id: null,
    origin: { kind: "page", approval_id: null, path: null },
    created_by: "local",
    created_at: "2026-05-04T12:00:00Z",
    expires_at: null,
    uses: 0,
    last_used_at: null,
    holds: true,
    warnings: [],
    ...change,
  };
}

export function ruleFile(change: Partial<RuleFile> = {}): RuleFile {
  return { source: "workspace", path: "/w/.countersign.toml", present: true, trusted: true, digest: "f1", broken: null, problems: [], ...change };
}

export function ruleSet(change: Partial<RuleSet> = {}): RuleSet {
  return { success: true, version: "v1", mode: "default", rules: [ruleView()], files: [], next_cursor: null, ...change };
}

export function checkResult(change: Partial<CheckResult> = {}): CheckResult {
  return {
    success: true,
    verdict: "ask",
    risk_level: "MEDIUM",
    summary: "Run `cargo test` and `git push`",
    reasons: [
      { outcome: "allow", text: "`cargo test` is allowed", part: 0, rule: { rule: "Bash(cargo test:*)", source: "project", why: "tests are fine" }, remedy: null },
      { outcome: "ask", text: "no rule allows `git push`", part: 1, rule: null, remedy: "allow `Bash(git push)`" },
    ],
    effects: [],
    commands: [
      { text: "cargo test", program: "/bin/cargo", wrappers: [], verdict: "allow", effects: ["runs programs"], reasons: [] },
      { text: "sudo git push", program: "/bin/git", wrappers: ["sudo"], verdict: "ask", effects: ["talks to the network"], reasons: ["no rule"] },
    ],
    proposals: [{ rules: ["Bash(git push)"], label: "exactly `git push`", matched_before: 2 }],
    explanation: "ask Bash",
    ...change,
  };
}

export function simulation(change: Partial<Simulation> = {}): Simulation {
  const call = { tool_name: "Bash", created_at: "2026-05-04T12:00:00Z", before: "ask", after: "allow", rules: ["Bash(cargo test:*)"] } as const;
  return {
    success: true,
    replayed: 120,
    before: { allow: 60, ask: 58, deny: 2 },
    after: { allow: 90, ask: 28, deny: 2 },
    changed: [
      { ...call, rules: [...call.rules], tool_id: "1", summary: "Run `cargo test`", decided: "approved", contradicts: false },
      { ...call, rules: [...call.rules], tool_id: "2", summary: "Run `cargo test x`", decided: "rejected", contradicts: true },
    ],
    ...change,
  };
}
