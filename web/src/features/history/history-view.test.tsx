import type { QueryClient } from "@tanstack/react-query";
import { act, fireEvent, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Execution, ExecutionPage } from "../../api/executions";
import { violations } from "../../testing/axe";
import { execution, executions } from "../../testing/executions";
import { approvalRequest, questionRequest } from "../../testing/messages";
import { renderWithQueries } from "../../testing/queries";
import { HistoryView } from "./history-view";

const onReview = vi.fn<(id: string) => void>();
/** What the server answers. */
let list: (query: URLSearchParams) => ExecutionPage | number;
let calls: Execution[];
let single: (id: string) => Execution | undefined;
let asked: string[];

beforeEach(() => {
  calls = [execution()];
  asked = [];
  list = () => ({ executions: calls, next_cursor: null });
  single = (id) => calls.find((call) => call.tool_id === id);
  vi.stubGlobal("fetch", (path: string) => {
    const url = new URL(path, "http://test");
    if (url.pathname.endsWith("/tools/executions")) {
      asked.push(url.search);
      return answer(list(url.searchParams));
    }
    const id = url.pathname.split("/").at(-1);
    if (url.pathname.includes("/approvals/")) return answer({ ...approvalRequest(), approval_id: id });
    return answer(single(id ?? "") ?? 404);
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

function answer(body: unknown): Promise<Response> {
  const error = { success: false, error: { code: "no", message: "the server says no" } };
  return Promise.resolve(typeof body === "number" ? Response.json(error, { status: body }) : Response.json(body));
}

/** Something was told of: what is on screen is asked for again. */
function tell(client: QueryClient) {
  return act(() => client.invalidateQueries({ queryKey: ["executions"] }));
}

function view() {
  return <HistoryView projectId="p1" workspace="shop" onReview={onReview} showRisk={(level) => level} showPreview={(it) => `preview of ${it.request_id}`} />;
}

function open(address = "/history") {
  window.history.replaceState(null, "", address);
  return renderWithQueries(view());
}

function row(name: RegExp | string): Promise<HTMLElement> {
  return screen.findByRole("button", { name });
}

/** The ids of the rows, by their summaries. */
function shown(): string {
  const rows = within(screen.getByRole("list", { name: "Calls, newest first" })).getAllByRole("button", { expanded: false });
  return rows.map((it) => /call (\w)/.exec(it.textContent ?? "")?.[1]).join("");
}

function lettered(names: string, change: Partial<Execution> = {}): Execution[] {
  return executions(names, change).map((it) => ({ ...it, summary: `call ${it.tool_id}` }));
}

test("a row tells when, what, how risky, who decided, what became of it, where, and how long it took", async () => {
  calls = [execution({ origin: "client", tool_name: "write_file" })];
  open();
  const line = await row(/write_file Write note.txt ?shop › Write a note · Countersign agent MEDIUM decided by Ana Completed where: Client took 41 ms/);
  expect(line).toHaveAttribute("aria-expanded", "false");
  expect(within(line).getByText(/12:00|2026|May/)).toBeVisible();
});

test("lapses, rules and callers have their words", async () => {
  calls = [
    execution({ tool_id: "1", status: "failed", error_type: "no_client", origin: "client", summary: "one" }),
    execution({ tool_id: "2", status: "failed", error_type: "client_lost", origin: "client", summary: "two" }),
    execution({ tool_id: "3", requires_approval: false, decided_by: "policy", summary: "three" }),
    execution({ tool_id: "4", status: "approved", origin: "api", summary: "four" }),
  ];
  open();
  expect(await row(/one .*Not run/)).toBeVisible();
  expect(await row(/two .*Client lost/)).toBeVisible();
  expect(await row(/three .*decided by the rules/)).toBeVisible();
  expect(await row(/four .*Approved where: Caller \(API\)/)).toBeVisible();
});

test("a row opens to what was seen, said and done, and the address knows", async () => {
  calls = [execution({ status: "rejected", result: null, feedback: "not there", error: "User rejected: not there" })];
  open();
  await userEvent.click(await row(/Write/));
  expect(window.location.search).toBe("?call=e1");
  const details = within(screen.getByRole("group", { name: "Details of Write" }));
  expect(await details.findByText("preview of q1")).toBeVisible();
  expect(details.getByText("Ana said")).toBeVisible();
  expect(details.getByText("not there")).toBeVisible();
  expect(details.getByText("Write changes files")).toBeVisible();
  expect(details.getByRole("link", { name: "open it" })).toHaveAttribute("href", "/agent/s1");
  expect(await violations()).toEqual([]);
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("group")).toBeNull();
  expect(window.location.search).toBe("");
});

test("the result of a client is shown by its parts, that of the server as the text it is", async () => {
  calls = [
    execution({ tool_id: "1", summary: "one", result: { success: false, stdout: "out", stderr: "bad", exit_code: 2, files: 3 } }),
    execution({ tool_id: "2", summary: "two", result: "Wrote <b>6</b>" }),
  ];
  open();
  await userEvent.click(await row(/one/));
  expect(await screen.findByText("exit code 2")).toBeVisible();
  expect(screen.getByRole("region", { name: "Output" })).toHaveTextContent("out");
  expect(screen.getByRole("region", { name: "Error output" })).toHaveTextContent("bad");
  expect(screen.getByRole("region", { name: "Further fields" })).toHaveTextContent('{ "files": 3 }');
  await userEvent.click(await row(/two/));
  expect(await screen.findByRole("region", { name: "Result" })).toHaveTextContent("Wrote <b>6</b>");
});

test("a call that waits can be brought up from here; one of another program has no conversation to open", async () => {
  calls = [execution({ status: "awaiting_approval", origin: "api", run_id: null, result: null })];
  open();
  await userEvent.click(await row(/Waiting/));
  await userEvent.click(screen.getByRole("button", { name: "Review" }));
  expect(onReview).toHaveBeenCalledWith("q1");
  expect(screen.queryByRole("link", { name: "open it" })).toBeNull();
  expect(screen.getByRole("link", { name: "all its calls" })).toHaveAttribute("href", "/history?session=s1");
});

test("the address is the filter, and choosing changes it", async () => {
  open("/history?session=s1&status=failed");
  await row(/Write/);
  expect(asked[0]).toBe("?status=failed&session=s1&limit=50");
  await userEvent.selectOptions(screen.getByLabelText("Risk"), "High risk");
  expect(window.location.search).toBe("?session=s1&status=failed&risk=HIGH");
  await userEvent.type(screen.getByLabelText("Tool"), "Bash{Enter}");
  expect(window.location.search).toBe("?session=s1&status=failed&risk=HIGH&tool=Bash");
  await userEvent.click(screen.getByRole("button", { name: /One conversation only/ }));
  expect(window.location.search).toBe("?status=failed&risk=HIGH&tool=Bash");
  await userEvent.click(screen.getByRole("button", { name: "Clear" }));
  expect(window.location.search).toBe("");
  await vi.waitFor(() => expect(asked.at(-1)).toBe("?limit=50"));
});

test("nothing yet, nothing that fits, and trouble are told apart", async () => {
  calls = [];
  const { unmount } = open();
  expect(await screen.findByText(/No calls yet/)).toBeVisible();
  unmount();
  open("/history?tool=Bash");
  expect(await screen.findByText("No call fits this filter.")).toBeVisible();
  list = () => 500;
  await userEvent.click(screen.getByRole("button", { name: "Show all calls" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("Could not load the history: the server says no");
  list = () => ({ executions: [execution()], next_cursor: null });
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await row(/Write/)).toBeVisible();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("older calls come on request; a failure keeps what is there", async () => {
  const pages: Record<string, ExecutionPage | number> = {
    first: { executions: lettered("dc"), next_cursor: "x" },
    x: 503,
  };
  list = (query) => pages[query.get("cursor") ?? "first"] ?? 400;
  open();
  await userEvent.click(await screen.findByRole("button", { name: "Show more" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("Could not load more: the server says no");
  expect(shown()).toBe("dc");
  pages["x"] = { executions: lettered("ba"), next_cursor: null };
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await row(/call a/);
  expect(shown()).toBe("dcba");
  expect(screen.queryByRole("button", { name: "Show more" })).toBeNull();
});

test("new calls appear when something is told of, but nothing moves beneath a pointer", async () => {
  calls = lettered("ba");
  const { client } = open();
  await row(/call a/);
  calls = lettered("cba");
  await tell(client);
  await row(/call c/);
  expect(shown()).toBe("cba");

  fireEvent.pointerEnter(screen.getByRole("list", { name: "Calls, newest first" }));
  calls = lettered("dcba", { status: "failed" });
  await tell(client);
  const fresh = await row("1 new call");
  expect(shown()).toBe("cba");
  expect(await row(/call c .*Failed/), "what stands is kept up to date").toBeVisible();
  await userEvent.click(fresh);
  expect(shown()).toBe("dcba");
});

test("on the way from a row to the button that lets in what came, nothing moves", async () => {
  calls = lettered("a");
  const { client } = open();
  const line = await row(/call a/);
  fireEvent.pointerOver(line);
  calls = lettered("ba");
  await tell(client);
  const fresh = await row("1 new call");
  fireEvent.pointerOut(line, { relatedTarget: fresh });
  fireEvent.pointerOver(fresh, { relatedTarget: line });
  expect(shown()).toBe("a");
  fireEvent.click(fresh);
  expect(shown()).toBe("ba");
});

test("what came meanwhile is let in when the pointer leaves", async () => {
  calls = lettered("a");
  const { client } = open();
  await row(/call a/);
  fireEvent.pointerEnter(screen.getByRole("list", { name: "Calls, newest first" }));
  calls = lettered("ba");
  await tell(client);
  await row("1 new call");
  act(() => void fireEvent.pointerLeave(screen.getByRole("list", { name: "Calls, newest first" })));
  expect(shown()).toBe("ba");
});

test("arrows go from row to row, Tab stops once", async () => {
  calls = lettered("cba");
  open();
  const first = await row(/call c/);
  first.focus();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}");
  expect(await row(/call a/)).toHaveFocus();
  await userEvent.keyboard("{ArrowUp}");
  expect(await row(/call b/)).toHaveFocus();
  expect(screen.getAllByRole("button", { name: /call/ }).map((it) => it.tabIndex)).toEqual([-1, 0, -1]);
  await userEvent.keyboard("{Home}{Enter}");
  expect(await row(/call c/)).toHaveAttribute("aria-expanded", "true");
});

test("a call in the address that is not in the list stands above it", async () => {
  calls = lettered("ba");
  list = () => ({ executions: lettered("b"), next_cursor: "x" });
  const { unmount } = open("/history?call=a");
  const section = within(await screen.findByRole("region", { name: "The call in the address" }));
  expect(section.getByRole("button", { name: /call a/ })).toHaveAttribute("aria-expanded", "true");
  unmount();
  open("/history?call=nothing");
  expect(await screen.findByRole("alert")).toHaveTextContent("The call in the address could not be loaded: the server says no");
  await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(window.location.search).toBe("");
});

test("the list has no accessibility violations", async () => {
  calls = lettered("ba");
  open();
  await row(/call a/);
  expect(await violations()).toEqual([]);
});

test("a call that was edited leads to the one that took its place", async () => {
  calls = [execution({ status: "cancelled", result: null })];
  single = () => execution({ tool_id: "heir", summary: "another", result: "what came of the other" });
  open();
  await userEvent.click(await row(/Write/));
  expect(await screen.findByRole("link", { name: "another request" })).toHaveAttribute("href", "/history?call=heir");
  expect(screen.queryByText("what came of the other")).toBeNull();
});

test("the input of another program's call is shown with its secrets masked, though it is told them", async () => {
  calls = [execution({ origin: "api", requires_approval: false, tool_input: { key: "***" } })];
  single = () => execution({ origin: "api", tool_input: { key: "hunter2" }, result: "whole" });
  open();
  await userEvent.click(await row(/Write/));
  expect(await screen.findByText("whole")).toBeVisible();
  expect(screen.getByText(/\*\*\*/)).toBeInTheDocument();
  expect(screen.queryByText(/hunter2/)).toBeNull();
});

test("a question is told with its answer, and a subagent's call with its name", async () => {
  const { questions } = questionRequest().tool_input as { questions: unknown };
  const input = { questions, answers: { "Which colour?": "Blue", "Which sizes?": "S" } };
  calls = [
    execution({ tool_id: "b", tool_name: "AskUserQuestion", tool_input: input, summary: "Ask the person a question", origin: "claude_cli" }),
    execution({ tool_id: "a", origin: "claude_cli", agent: "Explore" }),
  ];
  open();
  await row(/AskUserQuestion Which colour\? → Blue · Which sizes\? → S/);
  fireEvent.click(await row(/Write subagent Explore Write note.txt/));
  expect(await screen.findByText(/wanted by its subagent Explore/)).toBeVisible();
});

test("what was said with a yes is kept", async () => {
  calls = [execution({ feedback: "as agreed" })];
  open();
  fireEvent.click(await row(/Write note.txt/));
  expect(await screen.findByText("Ana said")).toBeVisible();
  expect(screen.getByText("as agreed")).toBeVisible();
});
