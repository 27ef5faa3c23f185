import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ServerMessage } from "../api/message";
import { violations } from "../testing/axe";
import { execution } from "../testing/executions";
import {
  approvalRequest,
  caughtUpMessage,
  outputMessage,
  resolvedMessage,
  resumedMessage,
  runMessages,
  stateMessage,
} from "../testing/messages";
import { ruleSet } from "../testing/rules";

// The socket lives as long as the page, so each test loads the page anew.
class FakeWebSocket extends EventTarget {
  static OPEN = 1;
  static last: FakeWebSocket;
  static count = 0;
  /** What waits when a connection is made. */
  static pending: ServerMessage[] = [];
  readyState = 1;
  sent: Record<string, unknown>[] = [];
  constructor() {
    super();
    FakeWebSocket.last = this;
    FakeWebSocket.count += 1;
    queueMicrotask(() => this.dispatchEvent(new Event("open")));
  }
  send(data: string) {
    const command = JSON.parse(data) as Record<string, unknown>;
    this.sent.push(command);
    if (command["command"] === "resume") this.receive(...FakeWebSocket.pending, resumedMessage(), caughtUpMessage());
  }
  receive(...messages: ServerMessage[]) {
    for (const message of messages) this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(message) }));
  }
  close() {
    this.readyState = 3;
  }
}

let sessionsStatus = 200;
let sessionTitle = "";

beforeEach(() => {
  sessionsStatus = 200;
  sessionTitle = "Earlier work";
  FakeWebSocket.count = 0;
  FakeWebSocket.pending = [];
  vi.resetModules();
  vi.stubGlobal("WebSocket", FakeWebSocket);
  const sessions = () => [{ session_id: "old", title: sessionTitle, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", active: false }];
  vi.stubGlobal("fetch", (path: string) => {
    return Promise.resolve(Response.json(bodyOf(path, sessions()), { status: sessionsStatus }));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

function bodyOf(path: string, sessions: object[]): object {
  if (path.startsWith("/my/projects?")) return { success: true, projects: [{ project_id: "p1", name: "shop", root: "/w", server: {} }], next_cursor: null };
  if (path.endsWith("/rules")) return ruleSet();
  if (path.includes("/tools/executions")) return { success: true, executions: [execution()], next_cursor: null };
  return { success: true, sessions, next_cursor: null };
}

async function openPage(path = "/agent") {
  window.history.replaceState(null, "", path);
  const { Routes } = await import("../routes");
  render(<Routes />);
}

async function openLive(path = "/agent") {
  await openPage(path);
  await screen.findByText("Connected");
}

async function send(text: string) {
  fireEvent.change(screen.getByLabelText("Prompt"), { target: { value: text } });
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
}

/** The conversation that the page follows. */
function followed(): string {
  return FakeWebSocket.last.sent[0]?.["session_id"] as string;
}

test("a new conversation is followed from the start and gets into the address with its first prompt", async () => {
  await openLive();
  expect(FakeWebSocket.last.sent).toEqual([{ command: "resume", after: 0, session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
  expect(window.location.pathname).toBe("/agent");
  await send("write a note");
  expect(FakeWebSocket.last.sent.at(-1)).toEqual({
    command: "run",
    prompt: "write a note",
    session_id: followed(),
    continue: false,
    auto_approve_safe: true,
  });
  expect(window.location.pathname).toBe(`/agent/${followed()}`);
  act(() => FakeWebSocket.last.receive(...runMessages(followed()).slice(0, 4)));
  await screen.findByRole("button", { name: /Write note.txt/ });
  expect(FakeWebSocket.count, "the connection stays while the conversation gets its address").toBe(1);
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(FakeWebSocket.last.sent.at(-1)).toEqual({ command: "cancel", session_id: followed() });
});

test("a first prompt that is refused is back in the box, and begins the conversation when sent again", async () => {
  await openLive();
  await send("write a note");
  expect(screen.getByLabelText("Prompt")).toHaveValue("");
  act(() => FakeWebSocket.last.receive({ type: "result", subtype: "error", content: { message: "no key", code: "no_key" }, hint: "set one" }));
  expect(await screen.findByText("no key. Hint: set one")).toBeVisible();
  expect(screen.getByLabelText("Prompt")).toHaveValue("write a note");
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(FakeWebSocket.last.sent.at(-1)).toMatchObject({ command: "run", continue: false, session_id: followed() });
});

test("while the server is away the page says so, keeps the request, and comes back by itself", async () => {
  await openLive();
  act(() => FakeWebSocket.last.receive(approvalRequest()));
  await screen.findByRole("dialog");
  act(() => void FakeWebSocket.last.dispatchEvent(new Event("close")));
  expect(await screen.findByText("Reconnecting…")).toBeVisible();
  expect(within(screen.getByRole("dialog")).getByText(/Not connected. You can decide as soon as/)).toBeVisible();
  FakeWebSocket.pending = [approvalRequest()];
  expect(await screen.findByText("Connected")).toBeVisible();
  expect(FakeWebSocket.count).toBe(2);
  expect(screen.queryByText(/Not connected/)).toBeNull();
  expect(screen.getByRole("dialog")).toBeVisible();
});

test("reads ask once the switch is off, also after a reload", async () => {
  await openLive();
  const reads = screen.getByRole("checkbox", { name: "Run reads without asking" });
  expect(reads).toBeChecked();
  await userEvent.click(reads);
  await send("look around");
  expect(FakeWebSocket.last.sent.at(-1)).toMatchObject({ command: "run", auto_approve_safe: false });
  cleanup();
  vi.resetModules();
  await openLive();
  expect(screen.getByRole("checkbox", { name: "Run reads without asking" })).not.toBeChecked();
});

test("what is being written on the blank page survives a reload and leaves with the prompt", async () => {
  await openLive();
  await userEvent.type(screen.getByLabelText("Prompt"), "half a thought");
  cleanup();
  vi.resetModules();
  await openLive();
  expect(screen.getByLabelText("Prompt")).toHaveValue("half a thought");
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  cleanup();
  vi.resetModules();
  await openLive();
  expect(screen.getByLabelText("Prompt")).toHaveValue("");
});

test("a new conversation leaves the old one, and back returns to it", async () => {
  await openLive("/agent/s1");
  act(() => FakeWebSocket.last.receive(...runMessages()));
  await screen.findByText("I will.");
  await userEvent.click(screen.getByRole("link", { name: "Countersign" }));
  expect(await screen.findByText("Nothing runs until you say so.")).toBeVisible();
  expect(screen.queryByText("I will.")).toBeNull();
  act(() => window.history.back());
  await vi.waitFor(() => expect(FakeWebSocket.last.sent.at(-1)).toEqual({ command: "resume", after: 0, session_id: "s1" }));
});

test("the next prompt continues the conversation", async () => {
  await openLive();
  await send("write a note");
  act(() => FakeWebSocket.last.receive(...runMessages(followed())));
  await screen.findByText(/10 tokens in/);
  await send("and another");
  expect(FakeWebSocket.last.sent.at(-1)).toMatchObject({ command: "run", continue: true, session_id: followed() });
});

test("Enter sends, Shift+Enter breaks the line, Enter in a composition does neither", async () => {
  await openLive();
  const prompt = screen.getByLabelText("Prompt");
  await userEvent.type(prompt, "one{Shift>}{Enter}{/Shift}two");
  expect(prompt).toHaveValue("one\ntwo");
  fireEvent.keyDown(prompt, { key: "Enter", isComposing: true });
  expect(FakeWebSocket.last.sent.filter(({ command }) => command === "run")).toEqual([]);
  await userEvent.type(prompt, "{Enter}");
  expect(FakeWebSocket.last.sent.at(-1)).toMatchObject({ command: "run", prompt: "one\ntwo" });
});

test("the three modes have their names; one that is not available says why", async () => {
  await openLive();
  const mode = screen.getByLabelText("Permission mode");
  expect(within(mode).getAllByRole("option").map((option) => option.textContent)).toEqual([
    "Auto Execute",
    "Review & Approve (SDK)",
    "Review & Approve (CLI)",
  ]);
  expect(mode).toHaveValue("sdk");
  fireEvent.change(screen.getByLabelText("Prompt"), { target: { value: "x" } });
  await userEvent.selectOptions(mode, "toolApproval");
  expect(screen.getByText("No CLI found")).toBeVisible();
  expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
});

test("a decision carries the digest of what was shown", async () => {
  await openLive();
  act(() => FakeWebSocket.last.receive(approvalRequest()));
  const dialog = within(await screen.findByRole("dialog", { name: /Write/ }));
  expect(document.title).toBe("(1) Write · shop › Write a note · Countersign agent – Countersign");
  await vi.waitFor(() => expect(dialog.getByRole("button", { name: "Reject" })).not.toHaveAttribute("aria-disabled"));
  await userEvent.type(dialog.getByLabelText("Feedback"), "not there");
  await userEvent.click(dialog.getByRole("button", { name: "Reject" }));
  expect(FakeWebSocket.last.sent.at(-1)).toEqual({
    command: "tool_approval_response",
    request_id: "q1",
    approved: false,
    feedback: "not there",
    digest: "d1",
  });
});

test("a lost connection keeps what is being written", async () => {
  await openLive();
  await userEvent.type(screen.getByLabelText("Prompt"), "half a thought");
  act(() => {
    FakeWebSocket.last.dispatchEvent(new Event("close"));
  });
  await screen.findByText("Reconnecting…");
  expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
  expect(screen.getByLabelText("Prompt")).toHaveValue("half a thought");
  // Or the attempt to reconnect would come in the middle of the next test.
  await screen.findByText("Connected");
});

test("without a session of ours the page says how to sign in", async () => {
  sessionsStatus = 401;
  await openPage();
  expect(await screen.findByText(/Open the sign-in link/)).toBeVisible();
  expect(await violations()).toEqual([]);
});

test("markdown shows no markup of the model's, loads no picture, links only to the web", async () => {
  await openLive("/agent/s1");
  const text = "**bold** <img src=x onerror=alert(1)> ![pic](https://evil.example/p.png) [run](javascript:alert(1)) [mail](mailto:a@b.example) [here](/agent) [doc](https://docs.rs) `a\u202eb`";
  act(() => FakeWebSocket.last.receive({ type: "assistant", subtype: "text", seq: 1, session_id: "s1", content: { text } }));
  const link = await screen.findByRole("link", { name: "doc" });
  expect(link).toHaveAttribute("rel", "noreferrer");
  expect(screen.getByText("⟨U+202E⟩")).toBeVisible();
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getByRole("link", { name: "pic" })).toHaveAttribute("target", "_blank");
  for (const name of ["run", "mail", "here"]) expect(screen.queryByRole("link", { name })).toBeNull();
});

test("the page has no accessibility violations, empty and at work", async () => {
  await openLive();
  await screen.findByText("Earlier work").catch(() => userEvent.click(screen.getByRole("button", { name: "Conversations" })));
  expect(await violations()).toEqual([]);
  await send("write a note");
  act(() => FakeWebSocket.last.receive(...runMessages(followed()).slice(0, 4), approvalRequest()));
  await screen.findByRole("dialog");
  expect(await violations()).toEqual([]);
});

test("a yes that reaches further, and one to an edited call, are sent with the digest of what was shown", async () => {
  await openLive("/agent/s1");
  const allowed = ["approve", "reject", "edit", "session", "project"] as const;
  const proposals = [{ rules: ["Write(note.txt)", "Read(note.txt)"], label: "this file", matched_before: 0 }];
  const receive = (id: string) =>
    act(() => FakeWebSocket.last.receive(approvalRequest({ request_id: id, allowed_decisions: [...allowed], proposals })));
  receive("q1");
  await userEvent.click(await screen.findByRole("button", { name: "Approve and don’t ask again" }));
  await userEvent.click(screen.getByRole("radio", { name: "in this project" }));
  const grant = screen.getByRole("button", { name: /add the rule in this project/ });
  await vi.waitFor(() => expect(grant).toBeEnabled());
  await userEvent.click(grant);
  const answer = { command: "tool_approval_response", approved: true, digest: "d1" };
  expect(FakeWebSocket.last.sent.at(-1)).toEqual({ ...answer, request_id: "q1", scope: "project", rule: "Write(note.txt)\nRead(note.txt)" });

  act(() => FakeWebSocket.last.receive(resolvedMessage("APPROVED", "q1", "me")));
  await vi.waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  receive("q2");
  await userEvent.click(await screen.findByRole("button", { name: "Edit first" }));
  fireEvent.change(screen.getByRole("textbox", { name: "Content" }), { target: { value: "bye\n" } });
  const approve = screen.getByRole("button", { name: "Approve edited" });
  await vi.waitFor(() => expect(approve).not.toHaveAttribute("aria-disabled"));
  await userEvent.click(approve);
  expect(FakeWebSocket.last.sent.at(-1)).toEqual({ ...answer, request_id: "q2", edited_input: { file_path: "/w/note.txt", content: "bye\n" } });
});

test("a message that cannot be read is told as a problem of the connection, and the rest goes on", async () => {
  await openLive("/agent/s1");
  act(() => FakeWebSocket.last.receive({ ...approvalRequest(), diff_lines: null as never }, ...runMessages()));
  expect(await screen.findByText("I will.")).toBeVisible();
  expect(screen.getByRole("alert")).toHaveTextContent(
    "The server sent a message that this page cannot read: diff_lines of tool_approval_request is missing or of another kind. Something may be missing here: reload the page.",
  );
  expect(screen.queryByRole("dialog")).toBeNull();
  await userEvent.click(screen.getByRole("link", { name: "Countersign" }));
  expect(screen.queryByRole("alert"), "it was about the conversation that was open").toBeNull();
});

test("a run that ends is seen in the list of conversations", async () => {
  await openLive("/agent/s1");
  await userEvent.click(screen.getByRole("button", { name: "Conversations" }));
  expect(await screen.findByText("Earlier work")).toBeVisible();
  sessionTitle = "Work that went on";
  act(() => FakeWebSocket.last.receive(...runMessages()));
  expect(await screen.findByText("Work that went on")).toBeVisible();
});

test("the rules are a place of their own, where what waits is still seen", async () => {
  await openLive("/agent/s1");
  await userEvent.click(screen.getByRole("link", { name: "Rules" }));
  expect(window.location.pathname).toBe("/rules");
  expect(await screen.findByRole("heading", { name: "Rules" })).toBeVisible();
  expect(FakeWebSocket.count, "the connection stays").toBe(1);
  act(() => FakeWebSocket.last.receive(approvalRequest()));
  expect(await screen.findByRole("dialog", { name: "Write: approval needed" })).toBeVisible();
});

test("the rules can be the first thing that is opened", async () => {
  await openLive("/rules/try");
  expect(await screen.findByRole("navigation", { name: "Rules" })).toBeVisible();
  expect(screen.getByRole("link", { name: "What would this do?" })).toHaveAttribute("aria-current", "page");
});

test("what another agent asks is decided from any view", async () => {
  await openLive("/agent/s1");
  await userEvent.click(screen.getByRole("link", { name: "History" }));
  expect(window.location.pathname).toBe("/history");
  expect(await screen.findByRole("button", { name: /Write note.txt/ })).toBeVisible();
  expect(FakeWebSocket.count, "the connection stays").toBe(1);
  act(() => FakeWebSocket.last.receive({ ...approvalRequest({ tool_name: "send_mail", origin: "api", session_id: "of-another" }) }));
  const dialog = within(await screen.findByRole("dialog", { name: "send_mail: approval needed" }));
  expect(dialog.getByText("asked by another agent (API)")).toBeVisible();
  await vi.waitFor(() => expect(dialog.getByRole("button", { name: "Approve" })).not.toHaveAttribute("aria-disabled"));
  await userEvent.click(dialog.getByRole("button", { name: "Approve" }));
  expect(FakeWebSocket.last.sent.at(-1)).toMatchObject({ command: "tool_approval_response", request_id: "q1", approved: true, digest: "d1" });
});

test("a call that a client runs is followed from the yes to the result", async () => {
  await openLive("/agent/s1");
  act(() => FakeWebSocket.last.receive(...runMessages().slice(0, 4), approvalRequest({ origin: "client" })));
  await screen.findByText("Waiting for your decision");
  act(() => FakeWebSocket.last.receive(resolvedMessage("APPROVED")));
  expect(await screen.findByText(/^Approved. Waiting for a client to run it/)).toBeVisible();
  expect(screen.queryByText("Working")).toBeNull();
  act(() => FakeWebSocket.last.receive(stateMessage(6, "executing"), outputMessage("half done\n")));
  expect(await screen.findByText("Running on the client…")).toBeVisible();
  expect(screen.getByText("half done")).toBeVisible();
  const [, , , , result] = runMessages() as [ServerMessage, ServerMessage, ServerMessage, ServerMessage, ServerMessage];
  act(() => FakeWebSocket.last.receive(stateMessage(7, "completed"), { ...result, seq: 8 }));
  expect(await screen.findByText("Approved by Ana")).toBeVisible();
  expect(screen.queryByText("half done")).toBeNull();
});
