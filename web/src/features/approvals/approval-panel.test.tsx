import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { SocketEvent } from "../../api/socket";
import { violations } from "../../testing/axe";
import { approvalRequest, commandRequest, resolvedMessage } from "../../testing/messages";
import { renderWithQueries } from "../../testing/queries";
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
  // Everything is painted at once.
  vi.stubGlobal("requestAnimationFrame", (paint: FrameRequestCallback) => {
    paint(0);
    return 0;
  });
  useApprovals.setState(initial, true);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.clearAllMocks();
});

function open(...events: SocketEvent[]) {
  renderWithQueries(
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

/** Moves into the card, as a person does. */
function enter() {
  press("F6");
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

test("a card that arrives takes the focus from nowhere, not even from an empty field", () => {
  open();
  const prompt = screen.getByLabelText("Prompt");
  act(() => prompt.focus());
  receive(approvalRequest());
  expect(prompt).toHaveFocus();
  wait(5000);
  expect(prompt).toHaveFocus();
});

test("F6 moves into the card and not onto a button, and back to where one was", () => {
  open(approvalRequest());
  const prompt = screen.getByLabelText("Prompt");
  act(() => prompt.focus());
  expect(screen.getByText(/moves into this card/)).toBeVisible();
  enter();
  expect(screen.getByRole("group", { name: "What will run" })).toHaveFocus();
  expect(screen.getByText(/reject with feedback/)).toBeVisible();
  press("F6");
  expect(prompt).toHaveFocus();
});

test("letters decide only in the card; elsewhere they are told how to get there", () => {
  open(approvalRequest());
  wait();
  press("a");
  expect(sent()).toEqual([]);
  expect(screen.getByText("Press F6 to move into the card; letters decide only there.")).toBeVisible();
  expect(document.body).toHaveFocus();
  enter();
  press("a");
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("whoever types a word into the card is taken out of it", () => {
  open(approvalRequest());
  wait();
  enter();
  for (const key of "set a") press(key);
  expect(sent()).toEqual([]);
  expect(screen.getByText("Press F6 to move into the card; letters decide only there.")).toBeVisible();
});

test("a key decides the next request of the same conversation too, one of another only after one has moved into it", () => {
  open(approvalRequest({ request_id: "a" }), approvalRequest({ request_id: "b" }), approvalRequest({ request_id: "c", session_id: "s2" }));
  wait();
  enter();
  press("a");
  receive(resolvedMessage("APPROVED", "a", "me"));
  wait();
  press("a");
  receive(resolvedMessage("APPROVED", "b", "me"));
  wait();
  press("a");
  expect(sent()).toEqual([["a", "approve", ""], ["b", "approve", ""]]);
  enter();
  press("a");
  expect(sent()).toHaveLength(3);
});

test("between two requests of a conversation the keys stay with the panel", () => {
  open(approvalRequest({ request_id: "a" }));
  act(() => screen.getByLabelText("Prompt").focus());
  wait();
  enter();
  press("a");
  receive(resolvedMessage("APPROVED", "a", "me"));
  expect(screen.getByRole("complementary", { name: "Waiting for you" })).toHaveFocus();
  press("a");
  expect(screen.getByText(/Nothing is open here, so “a” did nothing/)).toBeVisible();
  receive(approvalRequest({ request_id: "b" }));
  press("a");
  expect(screen.getByText("Too early: this card had just appeared. Press again.")).toBeVisible();
  wait();
  press("a");
  expect(sent()).toEqual([["a", "approve", ""], ["b", "approve", ""]]);
});

test("who decides with the mouse goes on writing where they were", () => {
  open(approvalRequest({ request_id: "a" }));
  const prompt = screen.getByLabelText("Prompt");
  act(() => prompt.focus());
  wait();
  const approve = button("Approve");
  fireEvent.pointerDown(approve);
  act(() => approve.focus());
  fireEvent.click(approve);
  expect(prompt).toHaveFocus();
  receive(resolvedMessage("APPROVED", "a", "me"), approvalRequest({ request_id: "b" }));
  expect(prompt).toHaveFocus();
});

test("a card that is settled elsewhere leaves the keys with nobody", () => {
  open(approvalRequest({ request_id: "a" }), approvalRequest({ request_id: "b" }));
  wait();
  enter();
  receive(resolvedMessage("APPROVED", "a", "Ana"));
  wait();
  press("a");
  expect(sent()).toEqual([]);
});

test("no key and no click approves before the end was in view; both say so", () => {
  const { bottom, restore } = placed();
  bottom.of = 900;
  open(approvalRequest());
  wait();
  enter();
  press("a");
  expect(screen.getByText("Scroll to the end first.")).toBeVisible();
  expect(button("Approve")).toHaveAccessibleDescription("scroll to the end first");
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([]);
  bottom.of = 200;
  fireEvent.scroll(screen.getByRole("group", { name: "What will run" }));
  expect(button("Approve"), "what has just come into view rests for a moment").toHaveAttribute("aria-disabled", "true");
  wait();
  bottom.of = 900;
  fireEvent.scroll(screen.getByRole("group", { name: "What will run" }));
  press("a");
  expect(sent()).toEqual([["q1", "approve", ""]]);
  restore();
});

test("what is folded away has to be unfolded first", () => {
  const input = { text: Array.from({ length: 600 }, (_, i) => `line ${i}`) };
  open(approvalRequest({ tool_name: "send", preview_type: "generic", preview_data: { input }, tool_input: input, diff_lines: [] }));
  wait();
  expect(button("Approve")).toHaveAccessibleDescription("unfold what is hidden first");
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([]);
  fireEvent.click(button(/Show all/));
});

/** Lets the end of what will run be somewhere: below the frame, or in it. */
function placed() {
  const bottom = { of: 0 };
  const spy = vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function rect(this: Element) {
    return new DOMRect(0, 0, 300, this.hasAttribute("data-part") ? bottom.of : 500);
  });
  Element.prototype.scrollBy = () => {};
  return { bottom, restore: () => spy.mockRestore() };
}

test("for 400 ms after it appears neither click nor key decides", () => {
  open(approvalRequest());
  wait(399);
  expect(button("Approve")).toHaveAttribute("aria-disabled", "true");
  fireEvent.click(button("Approve"));
  expect(screen.getByText("Too early: this card had just appeared. Press again.")).toBeVisible();
  press("a");
  expect(sent()).toEqual([]);
  wait(1);
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("a key that came too early is told, and does not make the next one wait longer", () => {
  open(approvalRequest());
  enter();
  wait(300);
  press("a");
  expect(screen.getByText("Too early: this card had just appeared. Press again.")).toBeVisible();
  wait(100);
  press("a");
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("what was never painted is never decided", () => {
  vi.stubGlobal("requestAnimationFrame", () => 0);
  open(approvalRequest());
  enter();
  wait(60_000);
  press("a");
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([]);
});

test("a held key does not decide", () => {
  open(approvalRequest());
  wait();
  enter();
  press("a", { repeat: true });
  expect(sent()).toEqual([]);
});

test("no single key approves a high risk: it goes to the button, which asks for one more", () => {
  open(commandRequest("rm -rf target", { risk_level: "HIGH" }));
  wait();
  enter();
  press("a");
  expect(sent()).toEqual([]);
  expect(button("Approve")).toHaveFocus();
  fireEvent.click(button("Approve"));
  expect(sent()).toEqual([["q1", "approve", ""]]);
});

test("r goes to the feedback, where letters are letters and Ctrl+Enter rejects", () => {
  open(approvalRequest());
  wait();
  enter();
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

test("approve all shows exactly what it means, and says what the server refused", () => {
  open(
    approvalRequest(),
    commandRequest("make all", { request_id: "q2", tool_use_id: "t2", digest: "d2" }),
    commandRequest("rm -r x", { request_id: "q3", risk_level: "HIGH" }),
    approvalRequest({ request_id: "q4", session_id: "s2" }),
  );
  wait();
  fireEvent.click(button("Approve all 2…"));
  const sheet = within(screen.getByRole("dialog", { name: "Approve 2 calls?" }));
  expect(sheet.getByText("shop › Write a note · Countersign agent")).toBeVisible();
  expect(sheet.getAllByRole("listitem").map((it) => it.textContent)).toEqual(["Write Write note.txt +1 −0", "Bash make all "]);
  expect(sheet.getByText(/1 more of this conversation is left out/)).toBeVisible();
  receive(approvalRequest({ request_id: "q5" }));
  expect(sheet.getAllByRole("listitem")).toHaveLength(2);
  wait();
  fireEvent.click(sheet.getByRole("button", { name: "Approve these 2" }));
  expect(approveAll).toHaveBeenCalledWith([{ request_id: "q1", digest: "d1" }, { request_id: "q2", digest: "d2" }]);
  const refused = { request_id: "q2", outcome: "refused" as const, code: "digest_mismatch", message: "it has moved" };
  receive({ type: "approve_all_answered", content: { answers: [{ request_id: "q1", outcome: "approved" }, refused] } });
  expect(screen.getByText("1 approved, 1 refused.")).toBeVisible();
  expect(within(screen.getByRole("dialog", { name: "What was refused" })).getByText(/it has moved/)).toBeVisible();
});

test("without a connection nothing can be decided, and the page says why", () => {
  open(approvalRequest());
  wait();
  receive({ type: "link", link: "reconnecting" });
  expect(button("Approve")).toBeDisabled();
  expect(button("Reject")).toBeDisabled();
  expect(screen.getByText(/Not connected/)).toBeVisible();
  enter();
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
  enter();
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
  enter();
  press("a");
  receive(resolvedMessage("APPROVED", "a", "me"));
  expect(screen.getByRole("dialog", { name: /Bash/ })).toBeVisible();
  expect(button("Approve")).toHaveAttribute("aria-disabled", "true");
  expect(screen.queryByText(/Approved by/)).toBeNull();
});

test("a request decided elsewhere leaves with a word", () => {
  open(approvalRequest());
  receive(resolvedMessage("REJECTED"));
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(screen.getByText("Write: Rejected by Ana")).toBeVisible();
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
  expect(button("Approve")).toHaveAccessibleDescription("unfold what is hidden first");
  expect(screen.getByText("line 0")).toBeVisible();
  expect(screen.queryByText("line 99999")).toBeNull();
});

test("what was left out of a diff and nobody can show is told beside the buttons, which stay awake", () => {
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
  expect(screen.getByText(/Write waits for approval, medium risk: Write `note.txt`. shop › Write a note · Countersign agent/)).toBeInTheDocument();
});

test("the dialog has no accessibility violations", async () => {
  open(approvalRequest({ request_id: "a" }), commandRequest("ls", { request_id: "b", risk_level: "HIGH" }));
  wait();
  vi.useRealTimers();
  vi.unstubAllGlobals();
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
  expect(list.getByText("shop")).toBeVisible();
  expect(list.getAllByRole("button").map((item) => item.textContent)).toEqual([
    "Approve all 3…",
    "Write Write note.txt◆Medium risk ",
    "execute_command Write note.txt◆Medium risk runs on the client",
    "send_mail Write note.txt◆Medium risk asked by another agent (API)",
  ]);
  expect(list.getByRole("button", { current: true })).toHaveTextContent("Write");
  fireEvent.click(list.getByRole("button", { name: /send_mail/ }));
  expect(screen.getByRole("dialog", { name: "send_mail: approval needed" })).toBeVisible();
  expect(screen.queryByRole("list", { name: "All that waits" })).toBeNull();
  expect(screen.getByRole("group", { name: "What will run" })).toHaveFocus();
});

test("Escape closes the list first, then the panel", async () => {
  open(approvalRequest(), approvalRequest({ request_id: "q2", origin: "client" }));
  fireEvent.click(button("1 of 2"));
  const list = screen.getByRole("list", { name: "All that waits" });
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect(await violations()).toEqual([]);
  vi.useFakeTimers();
  fireEvent.keyDown(within(list).getAllByRole("button")[0] as HTMLElement, { key: "Escape" });
  expect(screen.queryByRole("list", { name: "All that waits" })).toBeNull();
  expect(button("1 of 2")).toHaveFocus();
  expect(screen.getByRole("dialog")).toBeVisible();
  press("Escape");
  expect(screen.queryByRole("dialog")).toBeNull();
});
