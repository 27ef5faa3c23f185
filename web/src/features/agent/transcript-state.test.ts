import { expect, test } from "vitest";

import type { SocketEvent } from "../../api/socket";
import { approvalRequest, delta, outputMessage, resolvedMessage, resumedMessage, runMessages, stateMessage } from "../../testing/messages";
import { summarizeTool } from "./tool-summary";
import { emptyTranscript, promptWasLost, reduceTranscript } from "./transcript-state";
import type { Transcript } from "./transcript-state";

const live: SocketEvent = { type: "link", link: "live" };

function after(events: SocketEvent[], start = emptyTranscript("s1")): Transcript {
  return reduceTranscript(start, events);
}

/** One word per item. */
function kinds(state: Transcript): string[] {
  return state.items.map((item) => item.kind);
}

test("a run is told in order and ends", () => {
  const state = after(runMessages());
  expect(kinds(state)).toEqual(["prompt", "text", "tool", "end"]);
  expect(state.isRunning).toBe(false);
  expect(state.items[2]).toMatchObject({ name: "Write", result: { content: "Wrote 6 characters", isError: false } });
  expect(state.items[3]).toMatchObject({ usage: { input_tokens: 10, output_tokens: 2 } });
});

test("a replay after a reconnect adds nothing twice", () => {
  const once = after(runMessages());
  const twice = after([resumedMessage({ head: 6 }), ...runMessages(), live], once);
  expect(twice.items).toEqual(once.items);
});

test("one burst and many give the same view", () => {
  let state = emptyTranscript("s1");
  for (const message of runMessages()) state = after([message], state);
  expect(state).toEqual(after(runMessages()));
});

test("deltas stream, then the full text takes their place", () => {
  const [init, prompt, text] = runMessages() as [SocketEvent, SocketEvent, SocketEvent];
  const streaming = after([init, prompt, delta("I "), delta("wi")]);
  expect(streaming).toMatchObject({ live: "I wi", isRunning: true });
  const done = after([text], streaming);
  expect(done.live).toBe("");
  expect(done.items.at(-1)).toMatchObject({ kind: "text", text: "I will." });
});

test("a retry drops what had come and says so, until the answer comes again", () => {
  const retry: SocketEvent = { type: "system", subtype: "retry", session_id: "s1", content: { attempt: 2, wait_ms: 500, reason: "overloaded" } };
  const state = after([delta("half"), retry]);
  expect(state).toMatchObject({ live: "", retry: { attempt: 2, reason: "overloaded" } });
  expect(after([delta("whole")], state)).toMatchObject({ live: "whole", retry: null });
});

test("a run that goes on after a restart says so, and drops what had come of an answer", () => {
  const goesOn: SocketEvent = {
    type: "system", subtype: "run_resumed", seq: 3, session_id: "s1",
    content: { session_id: "s1", message: "The server was restarted; the run goes on." },
  };
  const state = after([...runMessages().slice(0, 2), delta("half"), goesOn]);
  expect(state).toMatchObject({ live: "", retry: null, isRunning: true });
  expect(state.items.at(-1)).toMatchObject({ kind: "resumed", message: "The server was restarted; the run goes on." });
  expect(after([goesOn], state).items).toEqual(state.items);
});

test("what streamed while we were away is marked as missing, not glued together", () => {
  const state = after([delta("The beginning"), resumedMessage({ head: 2, active: true }), delta("and the end")]);
  expect(state).toMatchObject({ live: "and the end", liveIsPartial: true });
});

test("messages of other conversations are not shown", () => {
  const state = after([...runMessages("other"), delta("x", "other")]);
  expect(state.items).toEqual([]);
  expect(state.live).toBe("");
});

test("a conversation is new until something of it is in the log", () => {
  expect(after([resumedMessage(), live]).isNew).toBe(true);
  expect(after([resumedMessage({ head: 6 }), ...runMessages(), live]).isNew).toBe(false);
  expect(after(runMessages().slice(0, 1), emptyTranscript("s1", true)).isNew).toBe(false);
  expect(after(runMessages("other"), emptyTranscript("s1", true)).isNew).toBe(true);
});

test("an error ends the run with its hint", () => {
  const error: SocketEvent = {
    type: "result", subtype: "error", seq: 3, session_id: "s1", content: { message: "no key", code: "no_key" }, hint: "set one",
  };
  const state = after([...runMessages().slice(0, 2), error]);
  expect(state.isRunning).toBe(false);
  expect(state.items.at(-1)).toMatchObject({ kind: "failure", message: "no key", hint: "set one" });
});

test("a run that the server no longer knows does not seem to work for ever", () => {
  const state = after([resumedMessage({ head: 2, active: false }), ...runMessages().slice(0, 2), live]);
  expect(state.isRunning).toBe(false);
});

test("an approval that comes ahead of the replay marks its call, and hides nothing", () => {
  const state = after([approvalRequest({ seq: 9 }), ...runMessages().slice(0, 4)]);
  expect(kinds(state)).toEqual(["prompt", "text", "tool"]);
  expect(state.verdicts["t1"]).toEqual({ requestId: "q1", status: "PENDING", decidedBy: null, feedback: null, origin: "agent", editedInput: null });
  expect(after([resolvedMessage("REJECTED")], state).verdicts["t1"]).toMatchObject({ status: "REJECTED", decidedBy: "Ana" });
});

test("a prompt that was refused or lost goes back into the box", () => {
  const sent = { ...emptyTranscript("s1"), awaiting: "write a note", draft: "next" };
  const refused = after([{ type: "error", content: { message: "a run is active", code: "busy" } }], sent);
  expect(refused).toMatchObject({ awaiting: null, draft: "write a note\nnext", problem: "a run is active" });
  const aboutRequest = after([{ type: "error", request_id: "q1", content: { message: "the file changed", code: "drift" } }], sent);
  expect(aboutRequest).toMatchObject({ awaiting: "write a note", problem: null });
  expect(promptWasLost({ ...sent, draft: "" })).toMatchObject({ awaiting: null, draft: "write a note" });
});

test("a run that could not start says why", () => {
  const failed: SocketEvent = { type: "result", subtype: "error", content: { message: "no key", code: "no_key" }, hint: "set one" };
  const state = after([failed], { ...emptyTranscript("s1", true), awaiting: "write" });
  expect(state).toMatchObject({ awaiting: null, draft: "write", problem: "no key. Hint: set one", items: [], isNew: true });
});

test("a run that ended before it began gives the prompt back as well", () => {
  const failed: SocketEvent = { type: "result", subtype: "error", seq: 1, session_id: "s1", content: { message: "no model", code: "x" } };
  const state = after([failed], { ...emptyTranscript("s1"), awaiting: "write" });
  expect(state).toMatchObject({ awaiting: null, draft: "write" });
  expect(kinds(state)).toEqual(["failure"]);
});

test("a tool call is told in one line", () => {
  expect(summarizeTool("Read", { file_path: "/w/src/main.rs" }, "/w")).toEqual({ name: "Read", detail: "src/main.rs" });
  expect(summarizeTool("Bash", { command: "cargo test\nls" }, "/w")).toEqual({ name: "Bash", detail: "cargo test …" });
  expect(summarizeTool("execute_command", { command: "npm", args: ["run", "it's", "a b"] }, "/w").detail).toBe(String.raw`npm run 'it'\''s' 'a b'`);
  expect(summarizeTool("Odd", 7, "/w")).toEqual({ name: "Odd", detail: "" });
});

const [INIT, PROMPT, SAID, USE, RESULT] = runMessages() as [SocketEvent, SocketEvent, SocketEvent, SocketEvent, SocketEvent];

test("a call that a client runs is followed step by step, and its output until the result", () => {
  const begun = after([INIT, PROMPT, SAID, USE, stateMessage(5, "approved"), stateMessage(6, "executing"), outputMessage("a"), outputMessage("b")]);
  expect(begun.steps["t1"]).toEqual({ toolId: "e-t1", status: "executing", wasBegun: true });
  expect(begun.outputs["e-t1"]).toEqual({ text: "ab", isPartial: false });
  const done = after([stateMessage(7, "completed"), { ...RESULT, seq: 8 } as SocketEvent], begun);
  expect(done.steps["t1"]).toMatchObject({ status: "completed", wasBegun: true });
  expect(done.outputs).toEqual({});
  expect(done.items[2]).toMatchObject({ result: { content: "Wrote 6 characters" } });
});

test("steps that are replayed change nothing, and those of other conversations are not ours", () => {
  const state = after([stateMessage(5, "executing"), stateMessage(6, "completed"), stateMessage(5, "executing")]);
  expect(state.steps["t1"]?.status).toBe("completed");
  expect(after([{ ...stateMessage(7, "failed", "t9"), session_id: "other" }], state).steps).toEqual(state.steps);
});

test("a call that nobody began is known as such", () => {
  expect(after([stateMessage(5, "failed")]).steps["t1"]?.wasBegun).toBe(false);
});

test("output that was missed is not glued together", () => {
  const before = after([stateMessage(5, "executing"), outputMessage("the beginning")]);
  const back = after([resumedMessage({ head: 5, active: true }), live, outputMessage("the end")], before);
  expect(back.outputs["e-t1"]).toEqual({ text: "the end", isPartial: true });
});

test("of endless output the latest is held, from the start of a line", () => {
  const state = after([stateMessage(5, "executing"), outputMessage("x".repeat(50_000)), outputMessage(`\n${"y".repeat(30_000)}\nend`)]);
  expect(state.outputs["e-t1"]?.isPartial).toBe(true);
  expect(state.outputs["e-t1"]?.text).toBe(`${"y".repeat(30_000)}\nend`);
});

test("a call says which subagent wants it, and its verdict what the person made of it", () => {
  const use: SocketEvent = { type: "assistant", subtype: "tool_use", seq: 4, session_id: "s1", content: { id: "t1", name: "Write", input: {}, agent: "Explore" } };
  const edited = Object.assign(resolvedMessage("APPROVED"), { edited_input: { content: "mine" } });
  const state = after([INIT, use, approvalRequest(), edited]);
  expect(state.items[0]).toMatchObject({ kind: "tool", agent: "Explore" });
  expect(state.verdicts["t1"]).toMatchObject({ status: "APPROVED", editedInput: { content: "mine" } });
  const replayed = after([approvalRequest({ status: "APPROVED", edited: { original_input: {} }, tool_input: { content: "mine" } })]);
  expect(replayed.verdicts["t1"]?.editedInput).toEqual({ content: "mine" });
});

test("who runs its calls itself is waited for by nobody", () => {
  const step = stateMessage(5, "approved") as Extract<SocketEvent, { type: "tool_state" }>;
  expect(after([{ ...step, content: { ...step.content, origin: "claude_cli" } }]).steps).toEqual({});
});

test("what somebody settles for the project holds at once, whatever conversation is open", () => {
  const state = after([resumedMessage()]);
  const settings: SocketEvent = { type: "system", subtype: "settings", seq: 9, content: { approvals: "off", default_mode: "bypassPermissions", modes: [] } };
  expect(after([settings], state).server).toMatchObject({ approvals: "off", modes: [], root: "/w" });
});
