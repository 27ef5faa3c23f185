import { act, render, screen, within } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";

import type { Todo } from "../../api/todos";
import { violations } from "../../testing/axe";
import { useAgent } from "./store";
import { TodoBar } from "./todo-bar";
import { ToolCall } from "./tool-call";
import { emptyTranscript } from "./transcript-state";

const todo = (content: string, state: Todo["state"], active = content): Todo => ({ id: null, content, active, state });
const MAIN = [todo("Look", "completed"), todo("Sweep <b>all</b>", "in_progress", "Sweeping"), todo("Rest", "pending")];

beforeEach(() => {
  useAgent.setState({ ...emptyTranscript("s1"), isRunning: true });
});

test("without a list there is nothing over the prompt", () => {
  const { container } = render(<TodoBar />);
  expect(container).toBeEmptyDOMElement();
});

test("one line says how far it is and what goes on, and opens to all tasks", async () => {
  useAgent.setState({ lists: [{ agent: null, todos: MAIN }] });
  render(<TodoBar />);
  const line = screen.getByRole("button", { name: "1 of 3 done Sweeping" });
  expect(screen.queryByRole("list")).toBeNull();
  act(() => line.click());
  const items = within(screen.getByRole("list", { name: "Tasks" })).getAllByRole("listitem");
  expect(items.map((it) => it.textContent)).toEqual(["✓Done: Look", "▸In progress: Sweep <b>all</b>", "○To do: Rest"]);
  expect(await violations()).toEqual([]);
});

test("it follows the list, and says where a run that has ended left off", () => {
  useAgent.setState({ lists: [{ agent: null, todos: MAIN }] });
  render(<TodoBar />);
  act(() => useAgent.setState({ isRunning: false }));
  expect(screen.getByRole("button", { name: "1 of 3 done left off at: Sweep <b>all</b>" })).toBeVisible();
  act(() => useAgent.setState({ lists: [{ agent: null, todos: MAIN.map((it) => ({ ...it, state: "completed" })) }] }));
  expect(screen.getByRole("button", { name: "All 3 done" })).toBeVisible();
});

test("a subagent's list says whose it is", () => {
  useAgent.setState({ lists: [{ agent: null, todos: MAIN }, { agent: "main/explore", todos: [todo("Dig", "in_progress", "Digging")] }] });
  render(<TodoBar />);
  act(() => screen.getByRole("button", { name: "subagent main/explore 0 of 1 done Digging" }).click());
  expect(screen.getByRole("list", { name: "Tasks of main/explore" })).toHaveTextContent("Dig");
});

test("in the conversation a noted list is a list, and one that was refused is not", () => {
  const input = { todos: [{ content: "Look", status: "completed" }, { content: "Rest", status: "pending" }] };
  const item = { kind: "tool", key: "1", id: "t1", name: "TodoWrite", input, agent: null, result: { content: "noted", isError: false } } as const;
  const props = { verdict: undefined, step: undefined, output: undefined, root: "/w", isRunning: false, onShowApproval: () => undefined };
  const { rerender } = render(<ToolCall {...props} item={item} />);
  expect(screen.getAllByRole("listitem").map((it) => it.textContent)).toEqual(["✓Done: Look", "○To do: Rest"]);
  rerender(<ToolCall {...props} item={{ ...item, result: { content: "not now", isError: true } }} />);
  expect(screen.queryByRole("list")).toBeNull();
  rerender(<ToolCall {...props} item={{ ...item, name: "TodoRead", input: {}, result: { content: "0 of 1 are done:\n[ ] Rest\n", isError: false } }} />);
  expect(screen.getAllByRole("listitem").map((it) => it.textContent)).toEqual(["○To do: Rest"]);
});
