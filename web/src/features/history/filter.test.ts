import { expect, test } from "vitest";

import { filterOf, isFiltered, withCall, withFilter } from "./filter";

function params(text: string): URLSearchParams {
  return new URLSearchParams(text);
}

test("the filter is what the address says", () => {
  expect(filterOf(params("status=failed&tool=%20Bash&call=e1"))).toEqual({ status: "failed", tool: "Bash", risk: "", session: "" });
  expect(isFiltered(filterOf(params("call=e1")))).toBe(false);
  expect(isFiltered(filterOf(params("session=s1")))).toBe(true);
});

test("another filter closes the open call and keeps the rest", () => {
  expect(withFilter(params("risk=HIGH&call=e1"), { tool: "Bash" }).toString()).toBe("risk=HIGH&tool=Bash");
  expect(withFilter(params("risk=HIGH&tool=Bash"), { risk: "" }).toString()).toBe("tool=Bash");
});

test("opening and closing a call leaves the filter alone", () => {
  expect(withCall(params("risk=HIGH"), "e1").toString()).toBe("risk=HIGH&call=e1");
  expect(withCall(params("risk=HIGH&call=e1"), null).toString()).toBe("risk=HIGH");
});
