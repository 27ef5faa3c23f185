import { expect, test } from "vitest";

import { longLines, visibleSegments } from "./visible-text";
import type { VisibleOptions } from "./visible-text";

/** Draws the segments in one line: chips in ⟨⟩, mixed words in [[ ]]. */
function draw(text: string, options?: VisibleOptions): string {
  const segments = visibleSegments(text, options);
  expect(segments.map((segment) => segment.text).join("")).toBe(text);
  return segments
    .map((segment) => {
      if (segment.kind === "chip") return `⟨${segment.label}⟩`;
      return segment.kind === "mixed" ? `[[${segment.text}]]` : segment.text;
    })
    .join("");
}

test("plain text stays as it is, with its line breaks and tabs", () => {
  expect(draw("fn main() {\n\tprint();\n}")).toBe("fn main() {\n\tprint();\n}");
  expect(draw("")).toBe("");
  expect(draw("Grüße, 你好, мир")).toBe("Grüße, 你好, мир");
});

test("bidirectional overrides are shown where they stand", () => {
  expect(draw("a\u202eexe.txt\u202c")).toBe("a⟨U+202E⟩exe.txt⟨U+202C⟩");
  expect(draw("\u2066x\u2069\u200e\u061c")).toBe("⟨U+2066⟩x⟨U+2069⟩⟨U+200E⟩⟨U+061C⟩");
});

test("control characters and terminal sequences are shown", () => {
  expect(draw("a\u001b[2Kb")).toBe("a⟨U+001B⟩[2Kb");
  expect(draw("a\u0000\u0007\u007f\u009bb\r\n")).toBe("a⟨U+0000⟩⟨U+0007⟩⟨U+007F⟩⟨U+009B⟩b⟨U+000D⟩\n");
});

test("zero-width, odd blanks, separators, fillers and tags are shown", () => {
  expect(draw("a\u200bb\u00a0c\u3000d\u2028e")).toBe("a⟨U+200B⟩b⟨U+00A0⟩c⟨U+3000⟩d⟨U+2028⟩e");
  expect(draw("\ufeff\u00ad\u3164\u2800")).toBe("⟨U+FEFF⟩⟨U+00AD⟩⟨U+3164⟩⟨U+2800⟩");
  expect(draw("x\u{e0041}\u{e0100}")).toBe("x⟨U+E0041⟩⟨U+E0100⟩");
});

test("half of a surrogate pair is shown", () => {
  expect(draw("a\ud83db")).toBe("a⟨U+D83D⟩b");
});

test("an emoji keeps its joiners, a word does not", () => {
  expect(draw("👩‍💻 ❤️")).toBe("👩‍💻 ❤️");
  expect(draw("ad\u200dmin\ufe0f")).toBe("ad⟨U+200D⟩min⟨U+FE0F⟩");
});

test("a word of mixed alphabets is marked, a word of one is not", () => {
  expect(draw("ping p\u0430ypal.com")).toBe("ping [[p\u0430ypal]].com");
  expect(draw("привет world")).toBe("привет world");
});

test("long runs of blanks are counted where they could hide something", () => {
  expect(draw(`ls${" ".repeat(9)}; rm`, { blanks: 8 })).toBe("ls⟨9 blanks⟩; rm");
  expect(draw(`ls${" ".repeat(8)}; rm`, { blanks: 8 })).toBe(`ls${" ".repeat(8)}; rm`);
  expect(draw("a\n\n\n\n\nb", { emptyLines: true })).toBe("a⟨4 empty lines⟩b");
  expect(draw("a\n\nb", { emptyLines: true })).toBe("a\n\nb");
});

test("indentation is no hiding place, unless it goes on and on", () => {
  const options = { blanks: 8, indent: true };
  expect(draw(`${" ".repeat(12)}return 1;`, options)).toBe(`${" ".repeat(12)}return 1;`);
  expect(draw(`a;\n${"\t".repeat(9)}b;`, options)).toBe(`a;\n${"\t".repeat(9)}b;`);
  expect(draw(`ok;${" ".repeat(9)}rm`, options)).toBe("ok;⟨9 blanks⟩rm");
  expect(draw(`ok;${" ".repeat(8)}rm`, options)).toBe(`ok;${" ".repeat(8)}rm`);
  expect(draw(`${" ".repeat(200)}rm`, options)).toBe("⟨200 blanks⟩rm");
});

test("lines that run far to the right are found", () => {
  expect(longLines("short")).toEqual([]);
  expect(longLines(`a\n${"x".repeat(301)}\nb`)).toEqual([{ line: 2, length: 301 }]);
});
