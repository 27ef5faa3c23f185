import { expect, test } from "vitest";

import {
  approvalRequest,
  caughtUpMessage,
  commandRequest,
  delta,
  outputMessage,
  questionRequest,
  resolvedMessage,
  resumedMessage,
  runMessages,
  stateMessage,
} from "../testing/messages";
import type { ServerMessage } from "./message";
import { parseMessage } from "./parse-message";

const WHOLE: ServerMessage[] = [
  ...runMessages(),
  approvalRequest(),
  commandRequest("ls"),
  questionRequest(),
  { ...approvalRequest(), type: "tool_rehearsed" },
  resolvedMessage("APPROVED"),
  resumedMessage(),
  caughtUpMessage(),
  delta("a"),
  stateMessage(7, "executing"),
  outputMessage("a"),
  { type: "error", content: { message: "no", code: "no" } },
  { type: "approve_all_answered", content: { answers: [{ request_id: "q1", outcome: "approved" }] } },
  { type: "tool_undone", content: { tool_ids: ["e1"], undone_by: "Ana", files: 1 } },
];

test("whole messages of every type are read as they were sent", () => {
  for (const message of WHOLE) expect(parseMessage(JSON.stringify(message))).toEqual({ kind: "message", message });
});

test.each([
  ["no text", new Uint8Array(1)],
  ["no JSON", "{"],
  ["a number", "7"],
  ["a list", "[]"],
  ["nothing", "null"],
  ["an object without a type", '{"subtype":"text"}'],
  ["a type that is no text", '{"type":1}'],
])("%s is malformed", (_, data) => {
  expect(parseMessage(data)).toEqual({ kind: "malformed", problem: "it is not an object with a `type`" });
});

const request = approvalRequest();
test.each<[string, object]>([
  ["digest", { ...request, digest: undefined }],
  ["digest", { ...request, digest: null }],
  ["tool_name", { ...request, tool_name: 7 }],
  ["preview_data", { ...request, preview_data: [] }],
  ["diff_lines", { ...request, diff_lines: null }],
  ["diff_lines[1]", { ...request, diff_lines: ["+a", {}] }],
  ["proposals[0].rules", { ...request, proposals: [{ label: "all", matched_before: 0 }] }],
  ["workspace.project_id", { ...request, workspace: { name: "shop", root: "/w" } }],
  ["conversation", { ...request, conversation: null }],
  ["expires_at", { ...request, expires_at: 1 }],
  ["seq", { ...request, seq: "4" }],
  ["content", { type: "tool_state" }],
  ["content.modes[0].available", resumedMessage({ modes: [{ id: "sdk", label: "SDK" } as never] })],
  ["usage.input_tokens", { type: "result", subtype: "success", content: { message: "done" }, usage: {} }],
  ["content.text", { type: "assistant", subtype: "text", content: {} }],
])("a message whose `%s` is not as it should be is malformed", (path, message) => {
  const { type } = message as { type: string };
  expect(parseMessage(JSON.stringify(message))).toEqual({ kind: "malformed", problem: `\`${path}\` of \`${type}\` is missing or of another kind` });
});

test("what may be left out may be left out, and a word of a newer server is let through", () => {
  const { seq: _seq, run_id: _run, ...rest } = request;
  expect(parseMessage(JSON.stringify({ ...rest, risk_level: "EXTREME", added_later: 1 })).kind).toBe("message");
});

test.each([
  ["weather", { type: "weather" }],
  ["toString", { type: "toString" }],
  ["system/weather", { type: "system", subtype: "weather", content: {} }],
  ["assistant", { type: "assistant", content: {} }],
])("%s is not known", (type, message) => {
  expect(parseMessage(JSON.stringify(message))).toEqual({ kind: "unknown", type });
});
