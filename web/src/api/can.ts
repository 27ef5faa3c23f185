// The browser's few copies of server rules. The server enforces them; the page only avoids
// offering what would be refused. Each names its source.
import type { AllowedDecision, ApprovalRequest } from "./message";

/** `allowed_decisions` on the request (`countersign-core`, `approval.rs`). */
export function mayDecide(request: ApprovalRequest, decision: AllowedDecision): boolean {
  return request.allowed_decisions.includes(decision);
}

/** A higher risk never asks for less consent (`countersign-core`, `risk.rs`): no bare key approves it. */
export function needsDeliberateApproval(request: ApprovalRequest): boolean {
  return request.risk_level !== "LOW" && request.risk_level !== "MEDIUM";
}

/** `approve_all` leaves HIGH out (`countersign-server`, the WebSocket's `approve_all`). */
export function isCoveredByApproveAll(request: ApprovalRequest): boolean {
  return !needsDeliberateApproval(request) && mayDecide(request, "approve");
}

/** How far a yes may reach beyond this call. High risk is asked every time (`countersign-core`, `proposal.rs`). */
export function scopesOf(request: ApprovalRequest): ("session" | "project")[] {
  const hasProposals = request.proposals.length > 0;
  if (!hasProposals || needsDeliberateApproval(request) || !mayDecide(request, "approve")) return [];
  return (["session", "project"] as const).filter((scope) => mayDecide(request, scope));
}
