import { expect, test } from "vitest";

import { cap } from "./cap";

test("a text is cut after so many lines or characters, whichever comes first", () => {
  expect(cap("a\nb\nc", 2, 100)).toBe("a\nb");
  expect(cap("a\nb\nc", 3, 100)).toBe("a\nb\nc");
  expect(cap("abcdef", 3, 4)).toBe("abcd");
  expect(cap("", 3, 4)).toBe("");
});
