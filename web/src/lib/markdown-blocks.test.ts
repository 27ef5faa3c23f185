import { expect, test } from "vitest";

import { markdownBlocks } from "./markdown-blocks";

test("blocks end at empty lines", () => {
  expect(markdownBlocks("# One\n\ntwo\nthree\n\n\n- four")).toEqual(["# One", "two\nthree", "- four"]);
});

test("a code fence is one block, also while it is still open", () => {
  expect(markdownBlocks("a\n\n```rust\nx\n\ny\n```\n\nb")).toEqual(["a", "```rust\nx\n\ny\n```", "b"]);
  expect(markdownBlocks("```\nx\n\ny")).toEqual(["```\nx\n\ny"]);
});

test("appending text changes no block but the last", () => {
  const text = "one\n\n```\ncode\n\nmore\n```\n\n1. a\n\n2. b";
  for (let end = 1; end < text.length; end++) {
    const before = markdownBlocks(text.slice(0, end)).slice(0, -1);
    expect(markdownBlocks(text).slice(0, before.length)).toEqual(before);
  }
});
