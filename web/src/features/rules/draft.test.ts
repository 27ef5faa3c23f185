import { expect, test } from "vitest";

import { ruleView } from "../../testing/rules";
import { changesBetween, countChanges, inputOf, newRow, rebased, rowNamedBy, rowOf } from "./draft";
import type { Draft } from "./draft";

const A = ruleView({ id: "a", rule: "Bash(a)" });
const B = ruleView({ id: "b", rule: "Bash(b)", effect: "ask" });
const C = ruleView({ id: "c", rule: "Bash(c)", effect: "deny" });

function draft(change: Partial<Draft> = {}): Draft {
  return { version: "v1", base: [A, B], rows: [rowOf(A), rowOf(B)], ...change };
}

test("a rule is sent with what it says and nothing else", () => {
  expect(inputOf(rowOf(A))).toEqual({ id: "a", effect: "allow", rule: "Bash(a)" });
  expect(inputOf({ ...newRow("k", "deny", " Bash(x) "), why: " no " })).toEqual({ effect: "deny", rule: "Bash(x)", why: "no" });
});

test("an untouched end keeps its hour, a new one is the end of the day", () => {
  const row = rowOf(ruleView({ expires_at: "2030-01-02T10:30:00Z" }));
  expect(inputOf(row).expires_at).toBe("2030-01-02T10:30:00Z");
  const moved = inputOf({ ...row, lastDay: "2031-05-06" }).expires_at ?? "";
  expect(new Date(moved).getTime()).toBe(new Date("2031-05-06T23:59:59").getTime());
  expect(inputOf({ ...row, lastDay: "" })).not.toHaveProperty("expires_at");
});

test("changes are counted: changed, added and removed", () => {
  expect(countChanges(draft())).toBe(0);
  expect(countChanges(draft({ rows: [{ ...rowOf(A), why: "because" }, newRow("k")] }))).toBe(3);
});

test("what others did is told", () => {
  const after = [{ ...A, effect: "deny" as const }, C];
  expect(changesBetween([A, B], after).map(({ kind }) => kind)).toEqual(["removed", "changed", "added"]);
});

test("a draft on top of what others did loses neither", () => {
  const mine = draft({ rows: [{ ...rowOf(A), rule: "Bash(mine)" }, rowOf(B), newRow("k", "ask", "Bash(new)")] });
  const next = rebased(mine, "v2", [{ ...A, why: "theirs" }, { ...B, why: "theirs" }, C]);
  expect(next.version).toBe("v2");
  expect(next.rows.map(({ id, rule, why }) => [id, rule, why])).toEqual([
    ["a", "Bash(mine)", ""],
    ["b", "Bash(b)", "theirs"],
    [null, "Bash(new)", ""],
    ["c", "Bash(c)", ""],
  ]);
});

test("what others removed is gone, unless it was being changed", () => {
  const mine = draft({ rows: [{ ...rowOf(A), rule: "Bash(mine)" }, rowOf(B)] });
  expect(rebased(mine, "v2", []).rows).toEqual([expect.objectContaining({ id: null, rule: "Bash(mine)" })]);
  expect(rebased(draft({ rows: [rowOf(A)] }), "v2", [A, B]).rows.map(({ id }) => id), "and what we removed stays removed").toEqual(["a"]);
});

test("the refused rule is the longest that the message names, or the one at its place, or the empty one", () => {
  const rows = [newRow("1", "allow", "Bash(git"), newRow("2", "allow", "Bash(git push"), newRow("3", "allow", "")];
  expect(rowNamedBy(rows, "`Bash(git push` has no end")?.key).toBe("2");
  expect(rowNamedBy(rows, "rules[0]: no")?.key).toBe("1");
  expect(rowNamedBy(rows, "a rule must not be empty")?.key).toBe("3");
  expect(rowNamedBy(rows.slice(0, 2), "too many rules")).toBeNull();
});
