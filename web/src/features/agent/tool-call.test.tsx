import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { questionRequest } from "../../testing/messages";
import { ToolCall } from "./tool-call";
import type { LiveOutput, Step } from "./elsewhere";
import type { Item, Verdict } from "./transcript-state";

type ToolItem = Extract<Item, { kind: "tool" }>;

const LS: ToolItem = { kind: "tool", key: "1", id: "t1", name: "Bash", input: { command: "ls" }, agent: null, result: null };

/** Nobody else has to do with it. */
const ALONE = { step: undefined, output: undefined, root: "/w", isRunning: true, onShowApproval: () => undefined };

afterEach(() => {
  vi.useRealTimers();
});

/** What stands below the line of a closed call. */
function output(item: Partial<ToolItem>, verdict?: Partial<Verdict>): string | null {
  const known: Verdict | undefined = verdict && { requestId: "q1", status: "APPROVED", decidedBy: "Ana", feedback: null, origin: "agent", editedInput: null, ...verdict };
  const { container, unmount } = render(
    <ToolCall {...ALONE} item={{ ...LS, ...item }} verdict={known} isRunning={false} />,
  );
  const text = container.querySelector("pre")?.textContent ?? null;
  unmount();
  return text;
}

test("what a command said and why a call failed is seen without a click", () => {
  expect(output({ result: { content: "a.txt\n", isError: false } }, {})).toBe("a.txt");
  expect(output({ name: "Read", input: { file_path: "x" }, result: { content: "no such file", isError: true } })).toBe("no such file");
  expect(output({ name: "Read", input: { file_path: "x" }, result: { content: "secret plans", isError: false } })).toBe(null);
  expect(output({ result: { content: "1\n2\n3\n4\n5\n6\n", isError: false } })).toBe("1\n2\n3\n4\n5 …");
});

test("a rejection shows the person's words, and nothing where there were none", () => {
  const result = { content: "User rejected: use rg", isError: true };
  expect(output({ result }, { status: "REJECTED", feedback: "use rg" })).toBe("use rg");
  expect(output({ result }, { status: "REJECTED" })).toBe(null);
});

test("a call that waits can be brought up", () => {
  render(<ToolCall {...ALONE} item={LS} verdict={verdictOf({ status: "PENDING", decidedBy: null })} />);
  expect(screen.getByText("Waiting")).toBeVisible();
  expect(screen.getByRole("button", { name: "Review" })).toBeVisible();
});

function verdictOf(change: Partial<Verdict>): Verdict {
  return { requestId: "q1", status: "APPROVED", decidedBy: "Ana", feedback: null, origin: "client", editedInput: null, ...change };
}

function stepOf(status: string, wasBegun = true): Step {
  return { toolId: "e1", status, wasBegun };
}

function outputOf(text: string, change: Partial<LiveOutput> = {}): LiveOutput {
  return { text, isPartial: false, ...change };
}

test("an approved call that no client takes says so after a moment", () => {
  vi.useFakeTimers();
  render(<ToolCall {...ALONE} item={LS} verdict={verdictOf({})} />);
  expect(screen.getByText("Waiting for a client")).toBeVisible();
  expect(screen.getByRole("status")).toHaveTextContent(/^Approved. Waiting for a client to run it.$/);
  act(() => vi.advanceTimersByTime(2000));
  expect(screen.getByRole("status")).toHaveTextContent(/^Approved. Waiting for a client to run it: none is connected./);
});

test("what the rules allowed waits for a client as well", () => {
  render(<ToolCall {...ALONE} item={LS} verdict={undefined} step={stepOf("approved", false)} />);
  expect(screen.getByRole("status")).toHaveTextContent("Allowed by the rules. Waiting for a client to run it.");
});

test("our own calls run without a word of clients", () => {
  render(<ToolCall {...ALONE} item={LS} verdict={verdictOf({ origin: "agent" })} />);
  expect(screen.getByText("Running")).toBeVisible();
  expect(screen.queryByRole("status")).toBeNull();
});

test("what a client's call writes is seen while it runs, the box grows on request", () => {
  const many = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  const running = { ...ALONE, item: LS, verdict: verdictOf({}), step: stepOf("executing") };
  const { rerender } = render(<ToolCall {...running} />);
  expect(screen.getByText("Running on the client…")).toBeVisible();
  expect(screen.queryByRole("log")).toBeNull();
  rerender(<ToolCall {...running} output={outputOf("one\ntwo\n")} />);
  expect(screen.getByRole("log", { name: "Output so far" })).toHaveTextContent("one two");
  expect(screen.queryByRole("button", { name: /lines/ })).toBeNull();
  rerender(<ToolCall {...running} output={outputOf(many, { isPartial: true })} />);
  expect(screen.getByText(/what came before is not shown here/)).toBeVisible();
  act(() => screen.getByRole("button", { name: "Show more of 20 lines" }).click());
  expect(screen.getByRole("button", { name: "Show less" })).toHaveAttribute("aria-expanded", "true");
});

test("once its result is there, a client's call looks like any other", () => {
  const done = { ...ALONE, item: { ...LS, result: { content: "a.txt\n", isError: false } }, verdict: verdictOf({}) };
  render(<ToolCall {...done} step={stepOf("completed")} />);
  expect(screen.getByText("Approved by Ana")).toBeVisible();
  expect(screen.getByText("a.txt")).toBeVisible();
  expect(screen.queryByRole("log")).toBeNull();
});

test("a call that no client came for was not run; one that a client lost has failed", () => {
  const left = { content: "No client came to run this.", isError: true };
  const { rerender } = render(
    <ToolCall {...ALONE} item={{ ...LS, result: left }} verdict={verdictOf({})} step={stepOf("failed", false)} />,
  );
  expect(screen.getByText("Not run")).toBeVisible();
  expect(screen.getByText("No client came to run this.")).toBeVisible();
  rerender(<ToolCall {...ALONE} item={{ ...LS, result: left }} verdict={verdictOf({})} step={stepOf("failed")} />);
  expect(screen.getByText("Failed")).toBeVisible();
});

test("a question stands in the conversation with its answer, not as JSON, and says who gave it", () => {
  const { tool_input: input } = questionRequest();
  const item: ToolItem = { ...LS, name: "AskUserQuestion", input };
  const { rerender } = render(<ToolCall {...ALONE} item={item} verdict={verdictOf({ status: "PENDING", decidedBy: null })} />);
  expect(screen.getAllByRole("definition").map((it) => it.textContent)).toEqual(["→ waits for your answer", "→ waits for your answer"]);
  const editedInput = { ...(input as object), answers: { "Which colour?": "Blue", "Which sizes?": "S, L" } };
  const result = { content: "The user changed the input before it ran, to: {}", isError: false };
  rerender(<ToolCall {...ALONE} item={{ ...item, result }} verdict={verdictOf({ editedInput })} isRunning={false} />);
  expect(screen.getAllByRole("definition").map((it) => it.textContent)).toEqual(["→ Blue", "→ S, L"]);
  expect(screen.getByText("Answered by Ana")).toBeVisible();
  expect(screen.queryByText(/changed the input/)).toBeNull();
});

test("a plan stands in the conversation as a text", () => {
  render(<ToolCall {...ALONE} item={{ ...LS, name: "ExitPlanMode", input: { plan: "# Tidy\n\n1. Sweep" } }} verdict={verdictOf({})} />);
  expect(screen.getByRole("group", { name: "Plan" })).toHaveTextContent("Tidy1.Sweep");
});

test("a subagent's call says whose it is", () => {
  render(<ToolCall {...ALONE} item={{ ...LS, agent: "Explore" }} verdict={undefined} />);
  expect(screen.getByTitle("subagent Explore")).toBeVisible();
});
