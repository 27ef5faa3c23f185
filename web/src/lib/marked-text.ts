// Markdown read line by line, for texts that are decided on: what is marked gets a look, and nothing is left out.
// Links stay as they were written, so that nobody is told one address and shown another.

export type Span = { kind: "text" | "code" | "strong"; text: string };

export type Block =
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "item"; depth: number; mark: string; spans: Span[] }
  | { kind: "quote" | "paragraph"; spans: Span[] }
  /** As it stands: code, with what is said of it, and tables. */
  | { kind: "plain"; about: string; text: string }
  | { kind: "rule" };

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^\s*>\s?(.*)$/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const TABLE = /^\s*\|/;

export function markedBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, fence, about = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      const end = endOfFence(lines, at, fence);
      blocks.push({ kind: "plain", about: about.trim(), text: lines.slice(at + 1, end).join("\n") });
      at = end;
    } else if (TABLE.test(line)) {
      const end = endOfTable(lines, at);
      blocks.push({ kind: "plain", about: "", text: lines.slice(at, end).join("\n") });
      at = end - 1;
    } else if (line.trim() !== "") add(blocks, line, (lines[at - 1] ?? "").trim() === "");
  }
  return blocks;
}

/** The line of the fence that closes it; the end of all where none does. */
function endOfFence(lines: string[], from: number, fence: string): number {
  const close = lines.findIndex((line, index) => index > from && line.trim().startsWith(fence) && line.trim().replaceAll(fence[0] ?? "", "") === "");
  return close === -1 ? lines.length : close;
}

function endOfTable(lines: string[], from: number): number {
  const end = lines.findIndex((line, index) => index > from && !TABLE.test(line));
  return end === -1 ? lines.length : end;
}

function add(blocks: Block[], line: string, isApart: boolean) {
  const heading = HEADING.exec(line);
  const item = ITEM.exec(line);
  const quote = QUOTE.exec(line);
  if (heading) blocks.push({ kind: "heading", level: (heading[1] ?? "#").length, spans: spansOf(heading[2] ?? "") });
  else if (RULE.test(line)) blocks.push({ kind: "rule" });
  else if (item) blocks.push({ kind: "item", depth: depthOf(item[1] ?? ""), mark: item[2] ?? "-", spans: spansOf(item[3] ?? "") });
  else if (quote) blocks.push({ kind: "quote", spans: spansOf(quote[1] ?? "") });
  else goOn(blocks, line, isApart);
}

/** A line that begins nothing belongs to what stands above it, unless an empty line parts them. */
function goOn(blocks: Block[], line: string, isApart: boolean) {
  const last = blocks.at(-1);
  if (!isApart && last && "spans" in last && last.kind !== "heading") last.spans.push({ kind: "text", text: "\n" }, ...spansOf(line.trim()));
  else blocks.push({ kind: "paragraph", spans: spansOf(line.trim()) });
}

function depthOf(indent: string): number {
  return Math.min(5, Math.floor(indent.replaceAll("\t", "    ").length / 2));
}

const SPAN = /(`+)([^`]+)\1|\*\*([^*]+)\*\*/g;

function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    if (match.index > end) spans.push({ kind: "text", text: text.slice(end, match.index) });
    spans.push(match[2] === undefined ? { kind: "strong", text: match[3] ?? "" } : { kind: "code", text: match[2] });
    end = match.index + match[0].length;
  }
  if (end < text.length || spans.length === 0) spans.push({ kind: "text", text: text.slice(end) });
  return spans;
}
