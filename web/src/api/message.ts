// The words of the socket, named once. Everything else imports them from here, so that
// only this file notices when the generated schema changes its shape.
import type { PreviewFacts, WithExtras, WithRule } from "./approval-extras";
import type { components } from "./generated/schema";

type Schemas = components["schemas"];
type Request = { type: "tool_approval_request" };
type Response = { command: "tool_approval_response" };

export type ApprovalRequest = WithExtras<Extract<Schemas["ServerMessage"], Request>>;
export type ServerMessage = Exclude<Schemas["ServerMessage"], Request> | ApprovalRequest;
export type ClientCommand =
  | Exclude<Schemas["ClientCommand"], Response>
  | WithRule<Extract<Schemas["ClientCommand"], Response>>;
export type ApprovalStatus = Schemas["RequestStatus"];
export type RiskLevel = Schemas["RiskLevel"];
export type PermissionMode = Schemas["PermissionMode"];
export type ModeView = Schemas["ModeView"];
export type SessionView = Schemas["SessionView"];
export type SessionList = Schemas["SessionList"];
export type Usage = Schemas["UsageView"];

export function previewOf(request: ApprovalRequest): PreviewFacts {
  return request.preview_data;
}

/** Reads one frame; `null` for anything that is not a message, which the page then ignores. */
export function parseMessage(data: unknown): ServerMessage | null {
  if (typeof data !== "string") return null;
  try {
    const value: unknown = JSON.parse(data);
    const isMessage = typeof value === "object" && value !== null && "type" in value;
    return isMessage ? (value as ServerMessage) : null;
  } catch {
    return null;
  }
}

/**
 * A message's place in the log, if it came in its turn. Requests and their outcomes may not: they are also sent
 * between connecting and `resume`, ahead of the replay, so their numbers say nothing about how far we have read.
 */
export function placeOf(message: ServerMessage): number | null {
  const isApproval = message.type === "tool_approval_request" || message.type === "tool_approval_resolved";
  return isApproval ? null : (message.seq ?? null);
}
