import { expect, test } from "vitest";

import { pairRows, parseDiff } from "./diff";
import type { DiffLine, Row } from "./diff";
import { highlightLines } from "./highlight";
import { languageOf } from "./language";
import { paintLine } from "./paint";

/** One line per row: sign, old and new number, text with the mark in «». */
function draw(lines: DiffLine[]): string[] {
  return lines.map((line) => {
    if (line.kind === "file") return `file ${line.path}`;
    if (line.kind === "hunk") return line.text;
    const [start, end] = line.mark ?? [0, 0];
    const { text } = line;
    const marked = line.mark ? `${text.slice(0, start)}«${text.slice(start, end)}»${text.slice(end)}` : text;
    return `${{ add: "+", remove: "-", context: " " }[line.kind]}${line.oldNumber ?? "."}/${line.newNumber ?? "."} ${marked}`;
  });
}

test("a new file is all added", () => {
  const lines = parseDiff(["--- a//path/to/test.txt", "+++ b//path/to/test.txt", "@@ -0,0 +1 @@", "+hello world"]);
  expect(draw(lines)).toEqual(["file /path/to/test.txt", "@@ -0,0 +1 @@", "+./1 hello world"]);
});

test("numbers run along both sides, and the changed stretch is marked", () => {
  const lines = parseDiff(["--- a/x", "+++ b/x", "@@ -10,3 +10,3 @@", " same", "-let a = 1;", "+let a = 2;", " end"]);
  expect(draw(lines)).toEqual([
    "file x",
    "@@ -10,3 +10,3 @@",
    " 10/10 same",
    "-11/. let a = «1»;",
    "+./11 let a = «2»;",
    " 12/12 end",
  ]);
});

test("lines with nothing in common are not marked", () => {
  const lines = parseDiff(["@@ -1 +1 @@", "-abcdef", "+uvwxyz"]);
  expect(draw(lines)).toEqual(["@@ -1 +1 @@", "-1/. abcdef", "+./1 uvwxyz"]);
});

test("a removed line of dashes is not the header of a file", () => {
  const lines = parseDiff(["--- a/q.sql", "+++ b/q.sql", "@@ -1,2 +1,1 @@", "--- drop it", " select 1", "--- a/r", "+++ b/r"]);
  expect(draw(lines)).toEqual(["file q.sql", "@@ -1,2 +1,1 @@", "-1/. -- drop it", " 2/1 select 1", "file r"]);
});

test("what is not a diff is shown, not swallowed", () => {
  expect(draw(parseDiff(["Binary files differ"]))).toEqual(["Binary files differ"]);
});

test("side by side, a change stands beside what it replaces", () => {
  const rows = parseDiff(["@@ -1,3 +1,4 @@", " a", "-b", "-c", "+B", "+C", "+D"]).filter((line): line is Row => line.kind !== "hunk");
  const pairs = pairRows(rows).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]);
  expect(pairs).toEqual([["a", "a"], ["b", "B"], ["c", "C"], [null, "D"]]);
});

test("a hundred thousand lines are read at once", () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `+line ${i}`);
  const rows = parseDiff(["@@ -0,0 +1,100000 @@", ...lines]);
  expect(rows).toHaveLength(100_001);
  expect(rows.at(-1)).toMatchObject({ kind: "add", newNumber: 100_000 });
});

test("colour and marks never change the text", () => {
  const line = 'let name = "x";';
  const tokens = highlightLines([line, "// done"], "rust");
  expect(tokens).toHaveLength(2);
  const spans = paintLine(line, tokens[0] ?? [], [4, 8]);
  expect(spans.map((span) => span.text).join("")).toBe(line);
  expect(spans.find((span) => span.className === "keyword")?.text).toBe("let");
  expect(spans.filter((span) => span.isMarked).map((span) => span.text).join("")).toBe("name");
});

test("a grammar that loses text is not believed", () => {
  const spans = paintLine("abc", [{ text: "a", className: "keyword" }], null);
  expect(spans).toEqual([{ start: 0, text: "abc", className: "", isMarked: false }]);
});

test("the grammar follows the file's name", () => {
  expect(languageOf("/w/src/main.rs")).toBe("rust");
  expect(languageOf("Component.TSX")).toBe("tsx");
  expect(languageOf("Makefile")).toBe(null);
});
