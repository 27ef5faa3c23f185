// What became of a call, in words.
import type { CallStatus, Execution } from "../../api/executions";
import type { Tone } from "../../ui/badge";

interface Look {
  word: string;
  tone: Tone;
  symbol: string;
}

const STATUSES: Record<CallStatus, Look> = {
  pending: { word: "Waiting", tone: "warn", symbol: "◷" },
  awaiting_approval: { word: "Waiting", tone: "warn", symbol: "◷" },
  approved: { word: "Approved", tone: "calm", symbol: "▸" },
  executing: { word: "Running", tone: "calm", symbol: "▸" },
  completed: { word: "Completed", tone: "good", symbol: "✓" },
  failed: { word: "Failed", tone: "danger", symbol: "✕" },
  rejected: { word: "Rejected", tone: "danger", symbol: "✕" },
  timeout: { word: "Expired", tone: "danger", symbol: "◷" },
  cancelled: { word: "Cancelled", tone: "neutral", symbol: "–" },
};

/** For the filter, in the order in which a call goes through them. */
export const STATUS_OPTIONS: [CallStatus, string][] = [
  ["awaiting_approval", "Waiting for a decision"],
  ["approved", "Approved, not run yet"],
  ["executing", "Running"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["rejected", "Rejected"],
  ["timeout", "Expired"],
  ["cancelled", "Cancelled"],
];

/** A word this page does not know yet is shown as it is. */
export function statusLook({ status, error_type: kind }: Pick<Execution, "status" | "error_type">): Look {
  if (status === "failed" && kind === "no_client") return { ...STATUSES.failed, word: "Not run" };
  if (status === "failed" && kind === "client_lost") return { ...STATUSES.failed, word: "Client lost" };
  if (status === "failed" && kind === "no_result") return { ...STATUSES.failed, word: "No result" };
  return STATUSES[status] ?? { word: status, tone: "neutral", symbol: "·" };
}

/** Who said yes or no. */
export function decidedText({ status, requires_approval: wasAsked, decided_by: by }: Execution): string {
  if (by !== undefined && by !== "policy") return by;
  if (status === "awaiting_approval" || status === "pending") return "nobody yet";
  if (by === "policy" || !wasAsked) return "the rules";
  return "nobody";
}

const PLACES = {
  agent: { word: "Server", icon: null, asker: "our agent, whose tools run on the server" },
  client: { word: "Client", icon: "computer", asker: "our agent, whose tools run on the client" },
  claude_cli: { word: "Claude Code", icon: "code", asker: "Claude Code, which runs its tools itself" },
  api: { word: "Caller (API)", icon: "code", asker: "another agent, over the API; it runs its tools itself" },
} as const;

/** Where it ran, or would have. */
export function placeOf({ origin }: Pick<Execution, "origin">) {
  return PLACES[origin] ?? PLACES.agent;
}

/** What the call still waits for, if it does. */
export function waitText({ status, origin }: Pick<Execution, "status" | "origin">): string | null {
  if (status === "awaiting_approval" || status === "pending") return "It waits for a decision.";
  if (status === "approved" && origin === "client") return "Approved. It waits for a client to run it.";
  if (status === "approved" && origin === "api") return "Approved. Whoever asked may run it now and has not said what came of it.";
  if (status === "approved") return "Approved. It is about to run.";
  if (status === "executing") return origin === "client" ? "Running on the client…" : "Running…";
  return null;
}
