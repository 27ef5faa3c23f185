// Messages as the server sends them, for tests: whole, valid, and short to write.
import type { ApprovalRequest, ServerMessage } from "../api/message";

export const NOW = "2026-05-04T12:00:00Z";

export function approvalRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    type: "tool_approval_request",
    seq: 4,
    session_id: "s1",
    run_id: "r1",
    request_id: "q1",
    tool_name: "Write",
    tool_input: { file_path: "/w/note.txt", content: "hello\n" },
    tool_use_id: "t1",
    origin: "agent",
    preview_type: "diff",
    preview_data: {
      file_path: "note.txt",
      is_new_file: true,
      original_lines: 0,
      new_lines: 1,
    },
    diff_stat: { added: 1, removed: 0, omitted: 0 },
    file_path: "/w/note.txt",
    original_content: null,
    new_content: "hello\n",
    diff_lines: ["--- a/note.txt", "+++ b/note.txt", "@@ -0,0 +1 @@", "+hello"],
    status: "PENDING",
    user_feedback: null,
    risk_level: "MEDIUM",
    reasons: ["Write changes files"],
    created_at: NOW,
    expires_at: "2126-05-04T12:05:00Z",
    digest: "d1",
    allowed_decisions: ["approve", "reject"],
    summary: "Write `note.txt`",
    proposals: [],
    edited: null,
    asked_again: null,
    workspace: { project_id: "p1", name: "shop", root: "/w" },
    conversation: { session_id: "s1", title: "Write a note" },
    agent_name: "Countersign agent",
    ...change,
  };
}

export function commandRequest(command: string, change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return approvalRequest({
    tool_name: "Bash",
    preview_type: "command",
    preview_data: { command, cwd: "/w", description: "<b>trust me</b>", timeout_ms: 120_000, warnings: ["Deletes files"], parts: [] },
    tool_input: { command },
    file_path: null,
    diff_lines: [],
    diff_stat: null,
    summary: "Run `ls`",
    ...change,
  });
}

export function resolvedMessage(
  status: "APPROVED" | "REJECTED" | "TIMEOUT" | "CANCELLED",
  requestId = "q1",
  decidedBy: string | null = "Ana",
): ServerMessage {
  return {
    type: "tool_approval_resolved",
    seq: 5,
    session_id: "s1",
    request_id: requestId,
    status,
    decided_by: decidedBy,
    user_feedback: null,
  };
}

export function resumedMessage(change: Partial<Extract<ServerMessage, { subtype: "resumed" }>["content"]> = {}) {
  return {
    type: "system",
    subtype: "resumed",
    content: {
      head: 0,
      session_id: null,
      active: false,
      demo: false,
      model: "claude",
      root: "/w",
      now: NOW,
      modes: [
        { id: "sdk", label: "Review & Approve (SDK)", available: true },
        { id: "toolApproval", label: "Review & Approve (CLI)", available: false, reason: "No CLI found" },
        { id: "bypassPermissions", label: "Auto Execute", available: true },
      ],
      approvals: "chosen",
      permission_mode: null,
      default_mode: "sdk",
      ...change,
    },
  } satisfies ServerMessage;
}

export function caughtUpMessage(head = 0): ServerMessage {
  return { type: "system", subtype: "caught_up", content: { head } };
}

/** One finished run of conversation `s1`: numbers 1 to 6. */
export function runMessages(sessionId = "s1"): ServerMessage[] {
  const of = (seq: number) => ({ seq, session_id: sessionId, run_id: "r1" });
  return [
    { ...of(1), type: "system", subtype: "init", content: { session_id: sessionId, model: "claude", tools: ["Write"] } },
    { ...of(2), type: "user", subtype: "prompt", content: { text: "write a note" } },
    { ...of(3), type: "assistant", subtype: "text", content: { text: "I will." } },
    { ...of(4), type: "assistant", subtype: "tool_use", content: { id: "t1", name: "Write", input: { file_path: "/w/note.txt" } } },
    { ...of(5), type: "user", subtype: "tool_result", content: { tool_use_id: "t1", content: "Wrote 6 characters", is_error: false } },
    {
      ...of(6),
      type: "result",
      subtype: "success",
      content: { message: "Conversation complete" },
      usage: { input_tokens: 10, output_tokens: 2 },
    },
  ];
}

export function delta(text: string, sessionId = "s1"): ServerMessage {
  return { type: "assistant", subtype: "text_delta", session_id: sessionId, content: { text } };
}

/** A step of a call that a client runs. */
export function stateMessage(seq: number, status: string, toolUseId = "t1"): ServerMessage {
  const content = { tool_id: `e-${toolUseId}`, tool_use_id: toolUseId, tool_name: "execute_command", status, origin: "client" as const };
  return { type: "tool_state", seq, session_id: "s1", run_id: "r1", content };
}

export function outputMessage(text: string, toolUseId = "t1"): ServerMessage {
  return { type: "tool_output", session_id: "s1", run_id: "r1", content: { tool_id: `e-${toolUseId}`, text } };
}

/** Two questions of Claude Code: one answer to the first, any number to the second. */
export function questionRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const input = {
    questions: [
      {
        question: "Which colour?",
        header: "Colour",
        multiSelect: false,
        options: [
          { label: "Red", description: "Warm" },
          { label: "Blue", description: "<b>Cold</b>" },
        ],
      },
      { question: "Which sizes?", header: "Size", multiSelect: true, options: [{ label: "S" }, { label: "L" }] },
    ],
  };
  return genericRequest("AskUserQuestion", input, { summary: "Ask the person a question", ...change });
}

/** What we have no picture of: a HIGH call of Claude Code with its input. */
export function genericRequest(tool: string, input: unknown, change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return approvalRequest({
    tool_name: tool,
    tool_input: input,
    origin: "claude_cli",
    preview_type: "generic",
    preview_data: { input },
    file_path: null,
    diff_lines: [],
    diff_stat: null,
    risk_level: "HIGH",
    reasons: ["it is a question to you"],
    allowed_decisions: ["approve", "reject", "edit"],
    ...change,
  });
}
