import { expect, test } from "vitest";

import { notedList, readList } from "../../api/todos";
import type { SocketEvent } from "../../api/socket";
import { resolvedMessage, runMessages, approvalRequest } from "../../testing/messages";
import { progressOf, progressText } from "./todo-lists";
import { summarizeTool } from "./tool-summary";
import { emptyTranscript, reduceTranscript } from "./transcript-state";
import type { Transcript } from "./transcript-state";

/** One word per state, as the model sends them: `x` done, `>` in progress, ` ` to do, `-` cancelled. */
function todos(states: string) {
  const words: Record<string, string> = { x: "completed", ">": "in_progress", " ": "pending", "-": "cancelled" };
  return { todos: [...states].map((it, index) => ({ content: `Task ${index}`, status: words[it], activeForm: `Doing ${index}` })) };
}

interface Told {
  id?: string;
  name?: string;
  agent?: string;
  answer?: string;
  isError?: boolean;
}

let seq = 0;

function next() {
  return { seq: (seq += 1), session_id: "s1", run_id: "r1" };
}

/** A call and its answer. */
function noted(input: unknown, { id = "n1", name = "TodoWrite", agent, answer = "", isError = false }: Told = {}): SocketEvent[] {
  return [
    { ...next(), type: "assistant", subtype: "tool_use", content: { id, name, input, ...(agent === undefined ? {} : { agent }) } },
    { ...next(), type: "user", subtype: "tool_result", content: { tool_use_id: id, content: answer, is_error: isError } },
  ];
}

function begun(): SocketEvent {
  return { ...runMessages()[0], seq: (seq += 1) } as SocketEvent;
}

function ended(): SocketEvent {
  return { ...runMessages()[5], seq: (seq += 1) } as SocketEvent;
}

function after(events: SocketEvent[], start = emptyTranscript("s1")): Transcript {
  return reduceTranscript(start, events);
}

/** Whose list, and how far: `main x> `. */
function told(state: Transcript): string[] {
  const marks = { completed: "x", in_progress: ">", pending: " ", cancelled: "-" };
  return state.lists.map(({ agent, todos: all }) => `${agent ?? "main"} ${all.map((it) => marks[it.state]).join("")}`);
}

test("the latest list holds, live and after a replay", () => {
  const events = [begun(), ...noted(todos(">  ")), ...noted(todos("x> "), { id: "n2" })];
  const state = after(events);
  expect(told(state)).toEqual(["main x> "]);
  expect(told(after(events, state))).toEqual(["main x> "]);
  expect(told(after(noted({ todos: [] }), state))).toEqual([]);
});

test("what was refused, failed or cannot be read changes no list", () => {
  const state = after([begun(), ...noted(todos("> "))]);
  expect(told(after(noted(todos("xx"), { isError: true }), state))).toEqual(["main > "]);
  expect(told(after(noted({ todos: [{ content: "a", status: "later" }] }), state))).toEqual(["main > "]);
  expect(told(after(noted(todos("xx"), { name: "Write" }), state))).toEqual(["main > "]);
});

test("a list that a person changed is theirs", () => {
  const init = begun();
  const [use, result] = noted(todos("  "), { id: "t1" }) as [SocketEvent, SocketEvent];
  const edited = Object.assign(resolvedMessage("APPROVED"), { edited_input: todos("x-") });
  expect(told(after([init, use, approvalRequest(), edited, result]))).toEqual(["main x-"]);
});

test("subagents have lists of their own, as long as the run goes on", () => {
  const state = after([begun(), ...noted(todos("> "), { agent: "Explore", id: "c1" }), ...noted(todos(" ")), ...noted(todos("x>"), { agent: "Explore", id: "c2" })]);
  expect(told(state)).toEqual(["main  ", "Explore x>"]);
  expect(told(after([ended()], state))).toEqual(["main  "]);
});

test("what is done goes when the next run begins, what is left stays", () => {
  const done = after([begun(), ...noted(todos("xx-")), ended()]);
  expect(told(done)).toEqual(["main xx-"]);
  expect(told(after([begun()], done))).toEqual([]);
  expect(told(after([begun(), ...noted(todos("x>")), ended(), begun()]))).toEqual(["main x>"]);
});

function create(subject: string, id: number): SocketEvent[] {
  return noted({ subject, description: "…" }, { name: "TaskCreate", id: `c${id}`, answer: `Task #${id} created successfully: ${subject}` });
}

function update(input: object, agent?: string): SocketEvent[] {
  return noted(input, { name: "TaskUpdate", id: "u", ...(agent ? { agent } : {}) });
}

test("tasks that Claude Code notes one by one are one list, for all its agents", () => {
  const state = after([begun(), ...create("Look", 1), ...create("Sweep", 2), ...create("Rest", 3)]);
  expect(told(state)).toEqual(["main    "]);
  const changed = after(
    [...update({ taskId: "1", status: "completed" }, "Explore"), ...update({ taskId: "2", status: "in_progress", activeForm: "Sweeping" }), ...update({ taskId: "3", status: "deleted" })],
    state,
  );
  expect(told(changed)).toEqual(["main x>"]);
  expect(progressOf(changed.lists[0]?.todos ?? []).doing).toMatchObject({ content: "Sweep", active: "Sweeping" });
});

test("how far it is, in a few words", () => {
  const texts = ["xx> -", "xx-", "--"].map((states) => {
    return progressText(progressOf(notedList({ tool_name: "TodoWrite", tool_input: todos(states) }) ?? []));
  });
  expect(texts).toEqual(["2 of 4 done", "All 2 done", "Nothing left to do"]);
});

test("the answer to a read is a list, too", () => {
  const answer = "1 of 3 are done:\n[x] Look\n[>] Sweeping (high)\n[ ] Rest\n";
  expect(readList({ tool_name: "TodoRead" }, answer)?.map(({ content, state }) => [content, state])).toEqual([
    ["Look", "completed"],
    ["Sweeping (high)", "in_progress"],
    ["Rest", "pending"],
  ]);
  expect(readList({ tool_name: "TodoRead" }, "The list is empty.")).toBeNull();
  expect(readList({ tool_name: "Bash" }, answer)).toBeNull();
});

function detail(name: string, input: unknown): string {
  return summarizeTool(name, input, "/w").detail;
}

test("a call that notes something says in one line what", () => {
  expect(detail("TodoWrite", todos("x> "))).toBe("1 of 3 done");
  expect(detail("TodoWrite", { todos: [] })).toBe("No tasks");
  expect(detail("TaskCreate", { subject: "Look", description: "x" })).toBe("Look");
  expect(detail("TaskUpdate", { taskId: "2", status: "in_progress" })).toBe("#2 · in progress");
});
