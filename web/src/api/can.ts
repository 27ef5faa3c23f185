// The browser's few copies of server rules. The server enforces them; the page only avoids
// offering what would be refused. Each names its source.
import type { ApprovalRequest } from "./message";

/** `allowed_decisions` on the request (`countersign-core`, `approval.rs`). */
export function mayDecide(request: ApprovalRequest, decision: "approve" | "reject"): boolean {
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
