// Decisions that are more than a yes or no to what was asked: always, and edited first.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { AllowedDecision, Proposal } from "../../api/message";
import type { SocketEvent } from "../../api/socket";
import { violations } from "../../testing/axe";
import { approvalRequest, commandRequest, resolvedMessage } from "../../testing/messages";
import { renderWithQueries } from "../../testing/queries";
import { ApprovalPanel } from "./approval-panel";
import { Notices } from "./notices";
import { useApprovals } from "./store";

const decide = vi.fn<(...args: unknown[]) => boolean>(() => true);
const initial = useApprovals.getInitialState();

const ALL: AllowedDecision[] = ["approve", "reject", "edit", "session", "project"];
const PROPOSALS: Proposal[] = [
  { rules: ["Bash(cargo test)", "Bash(ls)"], label: "exactly these two", matched_before: 1 },
  { rules: ["Bash(cargo test:*)"], label: "`cargo test` with anything after it", matched_before: 412 },
];
const always = { allowed_decisions: ALL, proposals: PROPOSALS };

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
      <ApprovalPanel decide={decide} approveAll={() => true} />
      <Notices />
    </>,
  );
  receive({ type: "link", link: "live" }, ...events);
  act(() => vi.advanceTimersByTime(400));
}

function receive(...events: SocketEvent[]) {
  act(() => useApprovals.getState().receive(events));
}

function button(name: string | RegExp): HTMLElement {
  return screen.getByRole("button", { name });
}

function click(name: string | RegExp) {
  fireEvent.click(button(name));
}

/** What went along with the decisions that were sent. */
function sent(): unknown[] {
  return decide.mock.calls.map(([, decision, , terms]) => [decision, terms]);
}

const MENU = "Approve and don’t ask again";

test("once is the default: the rules that could be added are folded away", () => {
  open(commandRequest("cargo test; ls", always));
  expect(button(MENU)).toHaveAttribute("aria-expanded", "false");
  expect(screen.queryByText("Bash(cargo test:*)")).toBeNull();
  click("Approve");
  expect(sent()).toEqual([["approve", {}]]);
});

test("each proposal shows its exact rules and reach; the narrowest and the conversation are chosen", () => {
  open(commandRequest("cargo test; ls", always));
  click(MENU);
  const [narrow, wide] = within(screen.getByRole("group", { name: "Don’t ask again for" })).getAllByRole("radio");
  expect(narrow).toBeChecked();
  expect(narrow).toHaveAccessibleName(/exactly these two.*Bash\(cargo test\).*Bash\(ls\).*would have matched 1 earlier call$/);
  expect(wide).toHaveAccessibleName(/would have matched 412 earlier calls/);
  expect(screen.getByRole("radio", { name: "in this conversation" })).toBeChecked();
  click("Approve, and add the rule in this conversation");
  expect(sent()).toEqual([["approve", { grant: { scope: "session", rule: "Bash(cargo test)\nBash(ls)" } }]]);
});

test("a wider rule for the project is a choice of two", () => {
  open(commandRequest("cargo test; ls", always));
  click(MENU);
  fireEvent.click(screen.getByRole("radio", { name: /with anything after it/ }));
  fireEvent.click(screen.getByRole("radio", { name: "in this project" }));
  click("Approve, and add the rule in this project");
  expect(sent()).toEqual([["approve", { grant: { scope: "project", rule: "Bash(cargo test:*)" } }]]);
  expect(button("Approve, and add the rule in this project"), "it rests while it is on its way").toBeDisabled();
});

test("only the reach that the server allows is offered", () => {
  open(commandRequest("ls", { ...always, allowed_decisions: ["approve", "reject", "project"] }));
  click(MENU);
  expect(screen.queryByRole("radio", { name: "in this conversation" })).toBeNull();
  expect(screen.getByRole("radio", { name: "in this project" })).toBeChecked();
});

test.each([
  ["a high risk", { ...always, risk_level: "HIGH" as const }],
  ["a call without proposals", { ...always, proposals: [] }],
  ["an old request", {}],
  ["a call that is asked every time", { ...always, allowed_decisions: ["approve", "reject"] as AllowedDecision[] }],
])("%s has no such menu", (_what, change) => {
  open(commandRequest("ls", change));
  expect(screen.queryByRole("button", { name: MENU })).toBeNull();
});

test("the menu rests until the request may be decided", () => {
  renderWithQueries(<ApprovalPanel decide={decide} approveAll={() => true} />);
  receive({ type: "link", link: "live" }, commandRequest("ls", always));
  click(MENU);
  expect(button(/add the rule/)).toBeDisabled();
  act(() => vi.advanceTimersByTime(400));
  expect(button(/add the rule/)).toBeEnabled();
});

test("a command is edited in place, and the whole input is sent with it", () => {
  open(commandRequest("ls", { ...always, tool_input: { command: "ls", timeout: 5 } }));
  click("Edit first");
  const field = screen.getByRole("textbox", { name: "Command" });
  expect(field).toHaveFocus();
  expect(field).toHaveValue("ls");
  expect(button("Approve"), "nothing is changed yet").toBeEnabled();
  fireEvent.change(field, { target: { value: "ls -l" } });
  expect(screen.getByText("modified by you")).toBeVisible();
  expect(screen.queryByRole("button", { name: MENU }), "rules are proposed for what was asked").toBeNull();
  click("Approve edited");
  expect(sent()).toEqual([["approve", { edited: { input: { command: "ls -l", timeout: 5 } } }]]);
});

test("e opens the editor, where letters are letters", () => {
  open(approvalRequest({ allowed_decisions: ALL }));
  fireEvent.keyDown(document.body, { key: "F6" });
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "e" });
  const field = screen.getByRole("textbox", { name: "Content" });
  expect(field).toHaveFocus();
  fireEvent.keyDown(field, { key: "a" });
  expect(sent()).toEqual([]);
});

test("what is not offered cannot be edited", () => {
  open(approvalRequest());
  expect(screen.queryByRole("button", { name: "Edit first" })).toBeNull();
  fireEvent.keyDown(document.body, { key: "F6" });
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "e" });
  expect(screen.queryByRole("textbox", { name: "Content" })).toBeNull();
});

test("an edit can be reset and discarded, and waits while one looks at another request", () => {
  open(commandRequest("ls", { ...always, request_id: "a" }), approvalRequest({ request_id: "b" }));
  click("Edit first");
  fireEvent.change(screen.getByRole("textbox", { name: "Command" }), { target: { value: "ls -l" } });
  act(() => useApprovals.getState().move(1));
  act(() => useApprovals.getState().move(-1));
  expect(screen.getByRole("textbox", { name: "Command" })).toHaveValue("ls -l");
  act(() => vi.advanceTimersByTime(400));
  expect(button(/Approve all/), "it would approve what was asked, not the edit").toBeDisabled();
  click("Reset");
  expect(screen.getByRole("textbox", { name: "Command" })).toHaveValue("ls");
  expect(button("Approve")).toBeVisible();
  click("Discard edit");
  expect(screen.queryByRole("textbox", { name: "Command" })).toBeNull();
});

test("an input that is not JSON cannot be sent", () => {
  open(approvalRequest({ tool_name: "WebFetch", preview_type: "generic", tool_input: { url: "a" }, allowed_decisions: ALL }));
  click("Edit first");
  const field = screen.getByRole("textbox", { name: "Input as JSON" });
  fireEvent.change(field, { target: { value: '{"url":' } });
  expect(button("Approve edited")).toBeDisabled();
  expect(field).toHaveAccessibleDescription(/not JSON/);
  fireEvent.change(field, { target: { value: '{"url":"b"}' } });
  click("Approve edited");
  expect(sent()).toEqual([["approve", { edited: { input: { url: "b" } } }]]);
});

test("a hidden secret has to be written out, and what a field hides is shown below it", () => {
  open(commandRequest("curl -H 'x-api-key: ***'", { ...always, tool_input: { command: "curl -H 'x-api-key: ***'" } }));
  click("Edit first");
  const field = screen.getByRole("textbox", { name: "Command" });
  expect(field).toHaveAccessibleDescription(/write the secret out/);
  fireEvent.change(field, { target: { value: "ls \u200b" } });
  expect(within(screen.getByRole("region", { name: "Edit before approving" })).getByText("⟨U+200B⟩")).toBeVisible();
});

test("a refused edit says why and is still there to be mended", () => {
  open(commandRequest("ls", always));
  click("Edit first");
  fireEvent.change(screen.getByRole("textbox", { name: "Command" }), { target: { value: "rm -rf /" } });
  click("Approve edited");
  expect(button("Approve edited")).toBeDisabled();
  receive({ type: "error", content: { message: "`rm -rf /` is denied", code: "denied" }, request_id: "q1" });
  expect(screen.getByText("`rm -rf /` is denied")).toBeVisible();
  expect(screen.getByRole("textbox", { name: "Command" })).toHaveValue("rm -rf /");
  expect(button("Approve edited")).toBeEnabled();
});

test("an edit that is riskier is asked again on a new card, which says so", () => {
  open(commandRequest("ls", always));
  click("Edit first");
  fireEvent.change(screen.getByRole("textbox", { name: "Command" }), { target: { value: "sudo ls" } });
  click("Approve edited");
  receive(
    resolvedMessage("CANCELLED", "q1", null),
    commandRequest("sudo ls", { request_id: "q2", risk_level: "HIGH", edited: { original_input: { command: "ls" } } }),
  );
  expect(screen.getByText("Bash: asked again, riskier after your edit")).toBeVisible();
  expect(screen.getByText("Asked again: riskier after your edit")).toBeVisible();
  fireEvent.click(screen.getByText("Edited by hand: this is not what the agent asked for"));
  expect(screen.getByRole("region", { name: "What the agent asked for" })).toHaveTextContent('"command": "ls"');
  expect(screen.queryByRole("textbox", { name: "Command" })).toBeNull();
  expect(button("Approve"), "the new card is inert at first").toHaveAttribute("aria-disabled", "true");
});

test("what moved since the approval is told", () => {
  open(commandRequest("ls", { asked_again: "`a.rs` changed since you approved" }));
  expect(screen.getByText(/^Asked again:/)).toHaveTextContent("Asked again: a.rs changed since you approved");
});

test("a request that moved under the same name must be looked at again", () => {
  open(commandRequest("ls", always));
  click("Approve");
  receive(commandRequest("ls", { ...always, digest: "d2", asked_again: "`ls` is another program now" }));
  expect(button("Approve")).toHaveAttribute("aria-disabled", "true");
  act(() => vi.advanceTimersByTime(400));
  expect(button("Approve")).not.toHaveAttribute("aria-disabled");
});

test("menu and editor have no accessibility violations", async () => {
  open(commandRequest("curl ***", { ...always, asked_again: "it moved", edited: { original_input: {} } }));
  click(MENU);
  click("Edit first");
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect(await violations()).toEqual([]);
});

test("of many reasons the first are told, and all of them on request", () => {
  open(commandRequest("ls", { reasons: Array.from({ length: 40 }, (_, i) => `changes \`${i}\``) }));
  const list = screen.getByRole("list", { name: "Why you are asked" });
  expect(within(list).getAllByRole("listitem")).toHaveLength(7);
  click("Show 34 more reasons");
  expect(within(list).getAllByRole("listitem")).toHaveLength(40);
});
