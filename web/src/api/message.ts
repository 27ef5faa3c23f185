// The words of the socket, named once. Everything else imports them from here, so that
// only this file notices when the generated schema changes its shape.
import type { components } from "./generated/schema";

export type Schemas = components["schemas"];

export type ServerMessage = Schemas["ServerMessage"];
export type ClientCommand = Schemas["ClientCommand"];
/** What became of one request of "approve all". */
export type BatchAnswer = Schemas["ApproveAnswer"];
export type ApprovalRequest = Extract<ServerMessage, { type: "tool_approval_request" }>;
/** Where a call belongs, and what a person would call who asked for it. */
export type Belonging = Pick<ApprovalRequest, "workspace" | "conversation" | "agent_name">;
/** The rehearsal of a request came a step further: the request as it now is. */
export type RehearsedMessage = Extract<ServerMessage, { type: "tool_rehearsed" }>;
/** What a command did when it was tried out. */
export type Rehearsal = Schemas["RehearsalView"];
/** A call that runs elsewhere came a step further. A person's own decision is told by `tool_approval_resolved` only. */
export type ToolStateMessage = Extract<ServerMessage, { type: "tool_state" }>;
/** A call that runs elsewhere has written some more; live, so never sent twice. */
export type ToolOutputMessage = Extract<ServerMessage, { type: "tool_output" }>;
/** Who asks and who runs it: our agent here, our agent by way of a client, or another program by itself. */
export type Origin = Schemas["CallOrigin"];
export type AllowedDecision = Schemas["AllowedDecision"];
/** What "don't ask again" could mean for a call. */
export type Proposal = Schemas["ProposalView"];
/** One command of a command line, as the server read it. */
export type CommandPart = Schemas["PartView"];
export type ChangedFile = Schemas["FileView"];
export type Outcome = Schemas["RuleEffect"];
export type ApprovalStatus = Schemas["RequestStatus"];
export type RiskLevel = Schemas["RiskLevel"];
export type PermissionMode = Schemas["RunPermissionMode"];
export type ModeView = Schemas["ModeView"];
export type SessionView = Schemas["SessionView"];
export type SessionList = Schemas["SessionList"];
export type Usage = Schemas["UsageView"];

/** Every field that a preview of some kind has. */
type FieldsOf<Kinds> = Kinds extends unknown ? keyof Kinds : never;
type ValueOf<Kinds, Field> = Kinds extends unknown ? (Field extends keyof Kinds ? Kinds[Field] : never) : never;

/** What a preview may say, whichever kind it is: every reader asks for what it can show. */
export type PreviewFacts = {
  [Field in FieldsOf<Schemas["PreviewData"]>]?: ValueOf<Schemas["PreviewData"], Field>;
};

/** What a preview is drawn from, for a request that waits and for one that is history. */
export type Previewed = Pick<
  ApprovalRequest,
  "request_id" | "tool_name" | "tool_input" | "preview_type" | "preview_data" | "diff_lines" | "diff_stat" | "file_path" | "origin" | "workspace"
>;

export function previewOf(request: Pick<Previewed, "preview_data">): PreviewFacts {
  return request.preview_data;
}

const APPROVALS: ReadonlySet<ServerMessage["type"]> = new Set([
  "tool_approval_request",
  "tool_approval_resolved",
  "tool_rehearsed",
]);

/**
 * A message's place in the log, if it came in its turn. Requests and their outcomes may not: they are also sent
 * between connecting and `resume`, ahead of the replay, so their numbers say nothing about how far we have read.
 */
export function placeOf(message: ServerMessage): number | null {
  const isApproval = APPROVALS.has(message.type);
  return isApproval ? null : (message.seq ?? null);
}
