import { expect, test } from "vitest";

import { filterOf, isFiltered, queryOf, withCall, withFilter } from "./filter";

function params(text: string): URLSearchParams {
  return new URLSearchParams(text);
}

test("the filter is what the address says", () => {
  expect(filterOf(params("status=failed&tool=%20Bash&call=e1"))).toEqual({ status: "failed", tool: "Bash", risk: "", session: "" });
  expect(isFiltered(filterOf(params("call=e1")))).toBe(false);
  expect(isFiltered(filterOf(params("session=s1")))).toBe(true);
});

test("the same filter has the same query, in whatever order it was written", () => {
  const query = queryOf(filterOf(params("tool=a%26b&call=e1&status=failed")));
  expect(query).toBe("status=failed&tool=a%26b");
  expect(filterOf(params(query))).toEqual(filterOf(params("status=failed&tool=a%26b")));
});

test("another filter closes the open call and keeps the rest", () => {
  expect(withFilter(params("risk=HIGH&call=e1"), { tool: "Bash" }).toString()).toBe("risk=HIGH&tool=Bash");
  expect(withFilter(params("risk=HIGH&tool=Bash"), { risk: "" }).toString()).toBe("tool=Bash");
});

test("opening and closing a call leaves the filter alone", () => {
  expect(withCall(params("risk=HIGH"), "e1").toString()).toBe("risk=HIGH&call=e1");
  expect(withCall(params("risk=HIGH&call=e1"), null).toString()).toBe("risk=HIGH");
});
