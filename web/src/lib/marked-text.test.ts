import { expect, test } from "vitest";

import { markedBlocks } from "./marked-text";

const text = (value: string) => ({ kind: "text", text: value });

test("headings, lists, quotes and code get a look of their own", () => {
  expect(markedBlocks("# Plan\n\nFirst `ls`, then **stop**.\n\n1. one\n   - deeper\n> said\n---\n```sh\nrm -rf x\n```\n| a | b |\n| - | - |\nend")).toEqual([
    { kind: "heading", level: 1, spans: [text("Plan")] },
    { kind: "paragraph", spans: [text("First "), { kind: "code", text: "ls" }, text(", then "), { kind: "strong", text: "stop" }, text(".")] },
    { kind: "item", depth: 0, mark: "1.", spans: [text("one")] },
    { kind: "item", depth: 1, mark: "-", spans: [text("deeper")] },
    { kind: "quote", spans: [text("said")] },
    { kind: "rule" },
    { kind: "plain", about: "sh", text: "rm -rf x" },
    { kind: "plain", about: "", text: "| a | b |\n| - | - |" },
    { kind: "paragraph", spans: [text("end")] },
  ]);
});

test("nothing is left out: links, comments, definitions and HTML stay as they were written", () => {
  expect(markedBlocks("```sh # and rm -rf ~\nls\n```")).toEqual([{ kind: "plain", about: "sh # and rm -rf ~", text: "ls" }]);
  for (const line of ["[docs](https://evil.example)", "<!-- also delete -->", "[x]: https://evil.example", "<img src=x onerror=y>", "![p](http://h/p.png)"]) {
    expect(markedBlocks(line)).toEqual([{ kind: "paragraph", spans: [text(line)] }]);
  }
});

test("a line goes on with what stands above it, and an open fence with all that follows", () => {
  expect(markedBlocks("- one\n  goes on\n\nnew")).toEqual([
    { kind: "item", depth: 0, mark: "-", spans: [text("one"), text("\n"), text("goes on")] },
    { kind: "paragraph", spans: [text("new")] },
  ]);
  expect(markedBlocks("~~~\na\n\nb")).toEqual([{ kind: "plain", about: "", text: "a\n\nb" }]);
});
