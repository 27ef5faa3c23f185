import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { ToolCall } from "./tool-call";
import type { Item, Verdict } from "./transcript-state";

type ToolItem = Extract<Item, { kind: "tool" }>;

const LS: ToolItem = { kind: "tool", key: "1", id: "t1", name: "Bash", input: { command: "ls" }, result: null };

/** What stands below the line of a closed call. */
function output(item: Partial<ToolItem>, verdict?: Partial<Verdict>): string | null {
  const known: Verdict | undefined = verdict && { requestId: "q1", status: "APPROVED", decidedBy: "Ana", feedback: null, ...verdict };
  const { container, unmount } = render(
    <ToolCall item={{ ...LS, ...item }} verdict={known} root="/w" isRunning={false} onShowApproval={() => undefined} />,
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
  render(<ToolCall item={LS} verdict={{ requestId: "q1", status: "PENDING", decidedBy: null, feedback: null }} root="/w" isRunning onShowApproval={() => undefined} />);
  expect(screen.getByText("Waiting")).toBeVisible();
  expect(screen.getByRole("button", { name: "Review" })).toBeVisible();
});
