import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { SocketEvent } from "../../api/socket";
import { violations } from "../../testing/axe";
import { approvalRequest, commandRequest, resolvedMessage } from "../../testing/messages";
import { Announcer } from "./announcer";
import { ApprovalPanel } from "./approval-panel";
import { Notices } from "./notices";
import { useApprovals } from "./store";
import { WaitingButton } from "./waiting-button";

const decide = vi.fn<(...args: unknown[]) => boolean>(() => true);
const approveAll = vi.fn<(...args: unknown[]) => boolean>(() => true);
const live: SocketEvent = { type: "link", link: "live" };
const initial = useApprovals.getInitialState();

beforeEach(() => {
  vi.useFakeTimers();
  useApprovals.setState(initial, true);
});

afterEach(() => {
  vi.useRealTimers();
  vi.clearAllMocks();
});

function open(...events: SocketEvent[]) {
  render(
    <>
      <textarea aria-label="Prompt" />
      <WaitingButton />
      <ApprovalPanel decide={decide} approveAll={approveAll} />
      <Notices />
      <Announcer />
    </>,
  );
  receive(live, ...events);
}

function receive(...events: SocketEvent[]) {
  act(() => useApprovals.getState().receive(events));
}

/** Lets the guard run out that keeps a fresh request inert. */
function wait(ms = 400) {
  act(() => vi.advanceTimersByTime(ms));
}

function press(key: string, options: object = {}) {
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...options });
}

function button(name: string | RegExp): HTMLElement {
  return screen.getByRole("button", { name });
}

/** What the page asked to send: the request's id, the decision, the feedback. */
function sent(): unknown[] {
  return decide.mock.calls.map(([entry, decision, feedback]) => [
    (entry as { request: { request_id: string } }).request.request_id,
    decision,
    feedback,
  ]);
}

test("a request is a dialog named by its tool, with the effect, the reasons and the change", () => {
  open(approvalRequest());
  const card = screen.getByRole("dialog", { name: "Write: approval needed" });
  const dialog = within(card);
  expect(card).toHaveAccessibleDescription("Write note.txt");
  expect(dialog.getByText("Medium risk")).toBeVisible();
  expect(dialog.getByText("Write changes files")).toBeVisible();
  expect(dialog.getByText("New file")).toBeVisible();
  expect(dialog.getByText("hello")).toBeVisible();
  expect(dialog.getByLabelText("Feedback")).toBeVisible();
});

test("focus moves into the dialog and not onto a button", () => {
  open(approvalRequest());
  expect(screen.getByRole("dialog")).toContainElement(document.activeElement as HTMLElement);
  expect(document.activeElement?.tagName).toBe("DIV");
});

test("focus is not taken from someone who writes", () => {
  open();
  const prompt = screen.getByLabelText("Prompt");
  fireEvent.change(prompt, { target: { value: "and then" } });
  act(() => prompt.focus());
  receive(approvalRequest());
  expect(prompt).toHaveFocus();
});

test("for 400 ms after it appears neither click nor key decides", () => {
  open(approvalRequest());
  wait(399);
  expect(button("Approve")).toBeDisabled();
  fireEvent.click(button("Approve"));
  press("a");
  expect(sent()).toEqual([]);
  wait(1);
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("a key that came too early starts the wait again", () => {
  open(approvalRequest());
  wait(300);
  press("a");
  wait(300);
  press("a");
  expect(sent()).toEqual([]);
  wait(400);
  press("a");
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("a held key does not decide", () => {
  open(approvalRequest());
  wait();
  press("a", { repeat: true });
  expect(sent()).toEqual([]);
});

test("no single key approves a high risk: it goes to the button, which asks for one more", () => {
  open(commandRequest("rm -rf target", { risk_level: "HIGH" }));
  wait();
  press("a");
  expect(sent()).toEqual([]);
  expect(button("Approve")).toHaveFocus();
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("a request nobody looks at is brought up by the first key, not decided", () => {
  open(approvalRequest());
  wait();
  act(() => (document.activeElement as HTMLElement).blur());
  press("a");
  expect(sent()).toEqual([]);
  expect(screen.getByRole("dialog")).toContainElement(document.activeElement as HTMLElement);
  press("a");
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("r goes to the feedback, where letters are letters and Ctrl+Enter rejects", () => {
  open(approvalRequest());
  wait();
  press("r");
  const feedback = screen.getByLabelText("Feedback");
  expect(feedback).toHaveFocus();
  press("a");
  fireEvent.change(feedback, { target: { value: "use a different name" } });
  press("Enter");
  expect(sent()).toEqual([]);
  press("Enter", { ctrlKey: true });
  expect(sent()).toEqual([["q1", "reject", "use a different name"]]);
});

test("while a decision is on its way the buttons rest; a refusal frees them", () => {
  open(approvalRequest());
  wait();
  fireEvent.click(button("Approve"));
  expect(button("Approve")).toBeDisabled();
  expect(button("Reject")).toBeDisabled();
  expect(screen.getByRole("dialog")).toBeVisible();
  receive({ type: "error", content: { message: "the file has changed", code: "drift" } });
  expect(button("Approve")).toBeEnabled();
  expect(screen.getByText("the file has changed")).toBeVisible();
});

test("when the database could not take a decision the card says so, and the same decision can be made again", () => {
  open(approvalRequest());
  wait();
  fireEvent.click(button("Approve"));
  const sentence = "the database cannot be reached; nothing was changed";
  receive({ type: "error", content: { message: sentence, code: "store" }, request_id: "q1" });
  expect(within(screen.getByRole("dialog")).getByText(sentence)).toBeVisible();
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([["q1", "approve", ""], ["q1", "approve", ""]]);
  expect(screen.queryByText(sentence), "what was said of the first attempt is not said of the second").toBeNull();
  receive(resolvedMessage("APPROVED", "q1"));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("of all that could not be approved each says so, and can be decided again", () => {
  open(approvalRequest(), approvalRequest({ request_id: "q2", tool_use_id: "t2" }));
  wait();
  fireEvent.click(button(/Approve all/));
  expect(button("Approve")).toBeDisabled();
  const sentence = "the database cannot be reached; nothing was changed";
  for (const id of ["q1", "q2"]) receive({ type: "error", content: { message: sentence, code: "store" }, request_id: id });
  expect(screen.getByText(sentence)).toBeVisible();
  expect(button("Approve")).toBeEnabled();
  fireEvent.click(button("Next request"));
  wait();
  expect(screen.getByText(sentence)).toBeVisible();
  expect(button("Approve")).toBeEnabled();
});

test("without a connection nothing can be decided, and the page says why", () => {
  open(approvalRequest());
  wait();
  receive({ type: "link", link: "reconnecting" });
  expect(button("Approve")).toBeDisabled();
  expect(button("Reject")).toBeDisabled();
  expect(screen.getByText(/Not connected/)).toBeVisible();
  press("a");
  expect(sent()).toEqual([]);
});

test("only the decisions that the server allows are offered", () => {
  open(approvalRequest({ allowed_decisions: ["reject"] }));
  wait();
  expect(button("Approve")).toBeDisabled();
  expect(button("Reject")).toBeEnabled();
});

test("each request of a queue keeps its own feedback; j and k go through them", () => {
  open(approvalRequest({ request_id: "a" }), commandRequest("ls", { request_id: "b" }));
  expect(screen.getByText("1 of 2")).toBeVisible();
  fireEvent.change(screen.getByLabelText("Feedback"), { target: { value: "for a" } });
  wait();
  press("j");
  expect(screen.getByRole("dialog", { name: /Bash/ })).toBeVisible();
  expect(screen.getByLabelText("Feedback")).toHaveValue("");
  wait();
  press("k");
  expect(screen.getByLabelText("Feedback")).toHaveValue("for a");
});

test("deciding moves on to the next, which is inert again", () => {
  open(approvalRequest({ request_id: "a" }), commandRequest("ls", { request_id: "b" }));
  wait();
  press("a");
  receive(resolvedMessage("APPROVED", "a", "me"));
  expect(screen.getByRole("dialog", { name: /Bash/ })).toBeVisible();
  expect(button("Approve")).toBeDisabled();
  expect(screen.queryByText(/Approved by/)).toBeNull();
});

test("a request decided elsewhere leaves with a word", () => {
  open(approvalRequest());
  receive(resolvedMessage("REJECTED"));
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(screen.getByText("Write: Rejected by Ana")).toBeVisible();
});

test("approve all says what it leaves out", () => {
  open(approvalRequest({ request_id: "a" }), approvalRequest({ request_id: "b" }), commandRequest("rm -r x", { request_id: "c", risk_level: "HIGH" }));
  wait();
  const all = button(/Approve all/);
  expect(all).toHaveTextContent("2 · HIGH excepted");
  expect(screen.getByRole("dialog")).not.toContainElement(all);
  fireEvent.click(all);
  expect(approveAll).toHaveBeenCalledWith("s1");
});

test("Escape puts the dialog aside and decides nothing", () => {
  open(approvalRequest());
  wait();
  press("Escape");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(sent()).toEqual([]);
  fireEvent.click(button("1 waiting"));
  expect(screen.getByRole("dialog")).toBeVisible();
});

test("hidden characters of a command are shown, its description is only text", () => {
  open(commandRequest("ls \u202Ecod.exe"));
  const dialog = within(screen.getByRole("dialog"));
  expect(dialog.getByText("⟨U+202E⟩")).toBeVisible();
  expect(dialog.getByText("The agent says")).toBeVisible();
  expect(dialog.getByText("<b>trust me</b>")).toBeVisible();
  expect(dialog.getByText("Deletes files")).toBeVisible();
});

test("a huge change is drawn in part, and the page says how much is missing", () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `+line ${i}`);
  open(approvalRequest({ diff_lines: ["--- a/x", "+++ b/x", "@@ -0,0 +1,100000 @@", ...lines] }));
  expect(screen.getByText("99,001 lines of this change are not shown.")).toBeVisible();
  expect(screen.getByText("line 0")).toBeVisible();
  expect(screen.queryByText("line 99999")).toBeNull();
});

test("what the server left out of a diff is told beside the buttons, which stay awake", () => {
  open(approvalRequest({ diff_stat: { added: 9000, removed: 0, omitted: 8999 } }));
  wait();
  expect(screen.getByText("8,999 lines of this change are not shown.")).toBeVisible();
  expect(screen.getByText(/8,999 lines were left out of this diff/)).toBeVisible();
  expect(button("Approve")).toBeEnabled();
});

test("a long command is on the page to its last character", () => {
  const command = Array.from({ length: 500 }, (_, i) => `echo ${i} ${"x".repeat(200)}`).join("\n");
  open(commandRequest(command));
  wait();
  expect(screen.getByRole("region", { name: "Command" })).toHaveTextContent(/echo 499 x{200}/);
  expect(button("Approve")).toBeEnabled();
});

test("the path is shown once: in the summary, or below one that does not name it", () => {
  open(approvalRequest({ summary: "Write `/w/note.txt`" }));
  expect(screen.getAllByText("/w/note.txt")).toHaveLength(1);
  receive(approvalRequest({ summary: "Write `/w/no…`" }));
  expect(screen.getByText("/w/note.txt")).toBeVisible();
});

test("new requests are announced", () => {
  open(approvalRequest());
  expect(screen.getByText(/Write waits for approval, medium risk/)).toBeInTheDocument();
});

test("the dialog has no accessibility violations", async () => {
  open(approvalRequest({ request_id: "a" }), commandRequest("ls", { request_id: "b", risk_level: "HIGH" }));
  wait();
  vi.useRealTimers();
  expect(await violations()).toEqual([]);
  act(() => useApprovals.getState().move(1));
  expect(await violations()).toEqual([]);
});

test("a card says whose call it is, unless it is our own", () => {
  open(approvalRequest({ origin: "agent" }));
  expect(screen.queryByText(/runs on the client|another agent/)).toBeNull();
  receive(resolvedMessage("APPROVED"), approvalRequest({ request_id: "q2", origin: "client" }));
  expect(within(screen.getByRole("dialog")).getByText("runs on the client")).toBeVisible();
  receive(resolvedMessage("APPROVED", "q2"), approvalRequest({ request_id: "q3", origin: "api", session_id: "elsewhere" }));
  expect(within(screen.getByRole("dialog")).getByText("asked by another agent (API)")).toBeVisible();
  expect(screen.getByText(/Write waits for approval, medium risk, asked by another agent \(API\): Write/)).toBeInTheDocument();
});

test("all that waits is a list to pick from, whoever asked", () => {
  open(
    approvalRequest(),
    approvalRequest({ request_id: "q2", tool_name: "execute_command", origin: "client" }),
    approvalRequest({ request_id: "q3", tool_name: "send_mail", origin: "api" }),
  );
  fireEvent.click(button("1 of 3"));
  const list = within(screen.getByRole("list", { name: "All that waits" }));
  expect(list.getAllByRole("button").map((item) => item.textContent)).toEqual([
    "Write Write note.txt◆Medium risk ",
    "execute_command Write note.txt◆Medium risk runs on the client",
    "send_mail Write note.txt◆Medium risk asked by another agent (API)",
  ]);
  expect(list.getByRole("button", { current: true })).toHaveTextContent("Write");
  fireEvent.click(list.getByRole("button", { name: /send_mail/ }));
  expect(screen.getByRole("dialog", { name: "send_mail: approval needed" })).toBeVisible();
  expect(screen.queryByRole("list", { name: "All that waits" })).toBeNull();
  expect(screen.getByRole("group", { name: "What will run" })).toHaveFocus();
  expect(screen.queryByRole("button", { name: /Approve all/ }), "each call of another program stands for itself").toBeNull();
});

test("Escape closes the list first, then the panel", async () => {
  open(approvalRequest(), approvalRequest({ request_id: "q2", origin: "client" }));
  fireEvent.click(button("1 of 2"));
  const list = screen.getByRole("list", { name: "All that waits" });
  vi.useRealTimers();
  expect(await violations()).toEqual([]);
  vi.useFakeTimers();
  fireEvent.keyDown(within(list).getAllByRole("button")[0] as HTMLElement, { key: "Escape" });
  expect(screen.queryByRole("list", { name: "All that waits" })).toBeNull();
  expect(button("1 of 2")).toHaveFocus();
  expect(screen.getByRole("dialog")).toBeVisible();
  press("Escape");
  expect(screen.queryByRole("dialog")).toBeNull();
});
