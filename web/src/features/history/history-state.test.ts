import { expect, test } from "vitest";

import type { ExecutionPage } from "../../api/executions";
import { execution, executions } from "../../testing/executions";
import { begun, continued, doubtful, refreshed, settledIn, updated } from "./history-state";
import type { History } from "./history-state";

function page(names: string, cursor: string | null = null): ExecutionPage {
  return { executions: executions(names), next_cursor: cursor };
}

/** The rows, and after a bar those that wait to be let in. */
function draw({ rows, fresh }: History): string {
  return fresh === null ? idsOf(rows) : `${idsOf(rows)}|${idsOf(fresh.rows)}`;
}

function idsOf(calls: History["rows"]): string {
  return calls.map((row) => row.tool_id).join("");
}

test("older calls come behind, none twice", () => {
  const history = continued(begun(page("fe", "next")), page("edc"));
  expect(draw(history)).toBe("fedc");
  expect(history.cursor).toBe(null);
});

test("what is new waits until it is let in, and then stands on top", () => {
  const history = refreshed(begun(page("cba")), page("edcba"));
  expect(draw(history)).toBe("cba|ed");
  expect(draw(settledIn(history, ""))).toBe("edcba");
  expect(draw(refreshed(history, page("fedcba"))), "another look").toBe("cba|fed");
});

test("a call that fits the filter later stands where it belongs", () => {
  expect(draw(settledIn(refreshed(begun(page("da")), page("dba")), ""))).toBe("dba");
});

test("rows change where they stand, whether or not anything may move", () => {
  const history = begun({ executions: executions("ba", { status: "executing" }), next_cursor: null });
  const next = refreshed(history, page("cba"));
  expect(next.rows.map((row) => row.status)).toEqual(["completed", "completed"]);
  expect(draw(next)).toBe("ba|c");
});

test("so much news that there is a gap begins the list anew", () => {
  const history = refreshed(begun(page("cba", "old")), page("ihg", "new"));
  expect(draw(history)).toBe("cba|ihg");
  expect(settledIn(history, "")).toMatchObject({ cursor: "new", fresh: null });
  expect(draw(settledIn(history, ""))).toBe("ihg");
});

test("the first calls of an empty list leave no gap", () => {
  expect(draw(settledIn(refreshed(begun(page("")), page("ba", "new")), ""))).toBe("ba");
});

test("what the filter does not mean any more goes when things may move", () => {
  const waiting = begun({ executions: executions("ba", { status: "awaiting_approval" }), next_cursor: null });
  const next = updated(waiting, [execution({ tool_id: "b", created_at: "2026-05-04T12:01:00Z", status: "rejected" })]);
  expect(draw(next)).toBe("ba");
  expect(draw(settledIn(next, "awaiting_approval"))).toBe("a");
  expect(draw(settledIn(next, ""))).toBe("ba");
});

test("only open calls that the first page does not tell of are asked for by themselves", () => {
  const [d, c, b, a] = executions("dcba");
  if (!d || !c || !b || !a) throw new Error("four calls");
  const history = begun({ executions: [d, c, { ...b, status: "approved" }, { ...a, status: "executing" }], next_cursor: null });
  expect(doubtful(history, page("dcb"))).toEqual(["a"]);
});
