// Questions and plans: what the person sees, and what goes back.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { SocketEvent } from "../../api/socket";
import { violations } from "../../testing/axe";
import { approvalRequest, genericRequest, questionRequest, resolvedMessage } from "../../testing/messages";
import { renderWithQueries } from "../../testing/queries";
import { Announcer } from "./announcer";
import { ApprovalPanel } from "./approval-panel";
import { Artefact } from "./preview/artefact";
import { Notices } from "./notices";
import { useApprovals } from "./store";

const decide = vi.fn<(...args: unknown[]) => boolean>(() => true);
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
      <ApprovalPanel decide={decide} approveAll={() => true} />
      <Notices />
      <Announcer />
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

function press(key: string, options: object = {}) {
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...options });
}

/** The decision, the feedback and the input that the page asked to send. */
function sent(): unknown[] {
  return decide.mock.calls.map(([, decision, feedback, terms]) => [decision, feedback, (terms as { edited?: { input: unknown } }).edited?.input]);
}

const group = (name: RegExp) => within(screen.getByRole("group", { name }));

test("a question is asked as one, with its options, and not as the input of a tool", () => {
  open(questionRequest());
  const card = within(screen.getByRole("dialog", { name: "AskUserQuestion: answer needed" }));
  expect(group(/Which colour/).getAllByRole("radio").map((it) => it.getAttribute("name"))).toHaveLength(3);
  expect(group(/Which colour/).getByRole("radio", { name: "Blue" })).toHaveAccessibleDescription("<b>Cold</b>");
  expect(group(/Which sizes/).getByRole("checkbox", { name: "L" })).toBeVisible();
  expect(card.queryByRole("region", { name: "Input" })).toBeNull();
  expect(card.queryByText("High risk")).toBeNull();
  expect(screen.queryByRole("button", { name: /Edit first/ })).toBeNull();
  expect(screen.getByText(/AskUserQuestion waits for your answer, runs in Claude Code: Which colour\? · Which sizes\?/)).toBeInTheDocument();
});

test("nothing can be sent before every question is answered, and the answers go back with the questions", () => {
  open(questionRequest());
  expect(button("Send answer (Approve)")).toBeDisabled();
  expect(screen.getByText("2 questions are open.")).toBeVisible();
  fireEvent.click(group(/Which colour/).getByRole("radio", { name: "Blue" }));
  fireEvent.click(group(/Which sizes/).getByRole("checkbox", { name: "L" }));
  fireEvent.change(screen.getByLabelText("Other answer to: Which sizes?"), { target: { value: "XXL" } });
  fireEvent.click(button("Send answer (Approve)"));
  const { questions } = questionRequest().tool_input as { questions: unknown };
  expect(sent()).toEqual([["approve", "", { questions, answers: { "Which colour?": "Blue", "Which sizes?": "L, XXL" } }]]);
});

test("what was picked is still there after a look at another request", () => {
  open(questionRequest(), approvalRequest({ request_id: "q2", tool_use_id: "t2" }));
  fireEvent.click(group(/Which colour/).getByRole("radio", { name: "Red" }));
  act(() => useApprovals.getState().move(1));
  act(() => useApprovals.getState().move(1));
  expect(group(/Which colour/).getByRole("radio", { name: "Red" })).toBeChecked();
  receive(resolvedMessage("APPROVED"));
  expect(useApprovals.getState().answers).toEqual({});
  expect(screen.getByText("AskUserQuestion: Answered by Ana")).toBeVisible();
});

test("the keyboard leads to the first option, and Ctrl+Enter sends", () => {
  open(questionRequest());
  press("F6");
  press("a");
  expect(group(/Which colour/).getByRole("radio", { name: "Red" })).toHaveFocus();
  press("Enter", { ctrlKey: true });
  expect(sent()).toEqual([]);
  press("r");
  expect(screen.getByLabelText("Feedback")).toHaveFocus();
  act(() => group(/Which colour/).getByRole("radio", { name: "Red" }).focus());
  fireEvent.click(group(/Which colour/).getByRole("radio", { name: "Red" }));
  fireEvent.click(group(/Which sizes/).getByRole("checkbox", { name: "S" }));
  press("Enter", { ctrlKey: true });
  expect(sent()).toHaveLength(1);
});

test("who does not want to answer says what to do instead", () => {
  open(questionRequest());
  fireEvent.change(screen.getByLabelText("Feedback"), { target: { value: "ask Bo" } });
  fireEvent.click(button("Don’t answer (Reject)"));
  expect(sent()).toEqual([["reject", "ask Bo", undefined]]);
});

test("a plan is a text in the agent's words, approved or sent back", () => {
  const plan = "# Tidy\n\n1. Sweep `src`\n\n[x](https://evil.example) <img src=x>";
  open(genericRequest("ExitPlanMode", { plan, planFilePath: "/home/ana/.claude/plans/x.md" }));
  const text = within(screen.getByRole("group", { name: "Plan" }));
  expect(text.getByText("Tidy")).toBeVisible();
  expect(text.getByText("[x](https://evil.example) <img src=x>")).toBeVisible();
  expect(screen.queryByRole("link")).toBeNull();
  expect(screen.queryByRole("img")).toBeNull();
  fireEvent.change(screen.getByLabelText("Feedback"), { target: { value: "mop, too" } });
  fireEvent.click(button("Keep planning (Reject)"));
  receive({ ...resolvedMessage("REJECTED") });
  receive(genericRequest("ExitPlanMode", { plan }, { request_id: "q2" }));
  act(() => vi.advanceTimersByTime(400));
  fireEvent.click(button("Approve plan"));
  expect(sent()).toEqual([["reject", "mop, too", undefined], ["approve", "", undefined]]);
});

test("leave to plan is asked for as what it is", () => {
  open(genericRequest("EnterPlanMode", {}));
  expect(screen.getByText("Until you approve its plan, the agent only looks around.")).toBeVisible();
  expect(screen.queryByRole("region", { name: "Input" })).toBeNull();
  fireEvent.click(button("Start planning (Approve)"));
  expect(sent()).toEqual([["approve", "", undefined]]);
});

test("an input that is no question as we know it is shown whole, to be approved like any call", () => {
  open(genericRequest("AskUserQuestion", { questions: "what?" }));
  expect(screen.getByRole("dialog", { name: "AskUserQuestion: approval needed" })).toBeVisible();
  expect(screen.getByRole("region", { name: "Input" })).toHaveTextContent("what?");
  expect(button("Approve")).toBeEnabled();
});

test("in the list of all that waits each says what it asks and whose it is", () => {
  open(questionRequest(), approvalRequest({ request_id: "q2", tool_use_id: "t2", origin: "claude_cli", agent: "Explore" }));
  fireEvent.click(button("1 of 2"));
  const rows = within(screen.getByRole("list", { name: "All that waits" })).getAllByRole("button");
  expect(rows[0]).toHaveTextContent("AskUserQuestion Which colour? · Which sizes?");
  expect(rows[1]).toHaveAccessibleName(/runs in Claude Code subagent Explore/);
});

test("what is history is told as question and answer", () => {
  const { questions } = questionRequest().tool_input as { questions: unknown };
  const request = questionRequest({ tool_input: { questions, answers: { "Which colour?": "Blue" } } });
  renderWithQueries(<Artefact request={request} onHidden={() => undefined} />);
  expect(screen.getAllByRole("term").map((it) => it.textContent)).toEqual(["Which colour?", "Which sizes?"]);
  expect(screen.getAllByRole("definition").map((it) => it.textContent)).toEqual(["→ Blue", "→ not answered"]);
});

test("both are sound for those who do not see", async () => {
  open(questionRequest(), genericRequest("ExitPlanMode", { plan: "# Tidy\n\n- sweep" }, { request_id: "q2", tool_use_id: "t2" }));
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect(await violations(document.body)).toEqual([]);
  act(() => useApprovals.getState().move(1));
  expect(await violations(document.body)).toEqual([]);
});
