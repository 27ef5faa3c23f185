// Reads the unified diff of a request into rows, and pairs them for the side-by-side view.

export interface Row {
  kind: "context" | "add" | "remove";
  text: string;
  oldNumber: number | null;
  newNumber: number | null;
  /** The changed stretch of a line that replaces another, as [start, end). */
  mark: readonly [number, number] | null;
}

export type DiffLine = Row | { kind: "file"; path: string } | { kind: "hunk"; text: string };

export function isSameLine(one: DiffLine, other: DiffLine | undefined): boolean {
  if (!other || one.kind !== other.kind || textOf(one) !== textOf(other)) return false;
  if (!("mark" in one && "mark" in other)) return true;
  const isSamePlace = one.oldNumber === other.oldNumber && one.newNumber === other.newNumber;
  return isSamePlace && one.mark?.[0] === other.mark?.[0] && one.mark?.[1] === other.mark?.[1];
}

function textOf(line: DiffLine): string {
  return line.kind === "file" ? line.path : line.text;
}

export interface Pair {
  left: Row | null;
  right: Row | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

interface Cursor {
  oldNumber: number;
  newNumber: number;
  oldLeft: number;
  newLeft: number;
}

/**
 * The hunk header says how many lines follow, and only that count tells a removed `-- comment`
 * (`--- comment`) from the header of the next file.
 */
export function parseDiff(lines: readonly string[]): DiffLine[] {
  const out: DiffLine[] = [];
  const at: Cursor = { oldNumber: 0, newNumber: 0, oldLeft: 0, newLeft: 0 };
  for (const line of lines) {
    const row = at.oldLeft > 0 || at.newLeft > 0 ? readRow(line, at) : null;
    if (row) out.push(row);
    else readHeader(line, at, out);
  }
  return markChanges(out);
}

function readRow(line: string, at: Cursor): Row | null {
  const text = line.slice(1);
  switch (line[0]) {
    case "+":
      at.newLeft -= 1;
      return { kind: "add", text, oldNumber: null, newNumber: at.newNumber++, mark: null };
    case "-":
      at.oldLeft -= 1;
      return { kind: "remove", text, oldNumber: at.oldNumber++, newNumber: null, mark: null };
    // An empty context line may have lost its blank on the way.
    case " ":
    case undefined:
      at.oldLeft -= 1;
      at.newLeft -= 1;
      return { kind: "context", text, oldNumber: at.oldNumber++, newNumber: at.newNumber++, mark: null };
    default:
      return null;
  }
}

function readHeader(line: string, at: Cursor, out: DiffLine[]) {
  const hunk = HUNK.exec(line);
  if (hunk) {
    at.oldNumber = Number(hunk[1]);
    at.oldLeft = Number(hunk[2] ?? 1);
    at.newNumber = Number(hunk[3]);
    at.newLeft = Number(hunk[4] ?? 1);
    out.push({ kind: "hunk", text: line });
  } else if (line.startsWith("+++ ")) {
    out.push({ kind: "file", path: line.slice(4).replace(/^b\//, "") });
  } else if (!line.startsWith("--- ")) {
    // Not a diff as we know it: shown rather than swallowed.
    out.push({ kind: "hunk", text: line });
  }
}

/** Marks the changed middle of lines that stand for each other. */
function markChanges(lines: DiffLine[]): DiffLine[] {
  for (let start = 0; start < lines.length; ) {
    const removed = runOf(lines, start, "remove");
    const added = runOf(lines, start + removed, "add");
    if (removed > 0 && removed === added) {
      for (let i = start; i < start + removed; i++) markPair(lines[i] as Row, lines[i + removed] as Row);
    }
    start += Math.max(1, removed + added);
  }
  return lines;
}

function runOf(lines: DiffLine[], from: number, kind: Row["kind"]): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end - from;
}

function markPair(before: Row, after: Row) {
  const shorter = Math.min(before.text.length, after.text.length);
  let head = 0;
  while (head < shorter && before.text[head] === after.text[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.text.at(-1 - tail) === after.text.at(-1 - tail)) tail += 1;
  // Lines with little in common were rewritten: marking nearly all of them says nothing.
  if (head + tail < 0.3 * Math.max(before.text.length, after.text.length)) return;
  before.mark = [head, before.text.length - tail];
  after.mark = [head, after.text.length - tail];
}

/** Puts removed and added lines of one change beside each other. Takes rows only, no headers. */
export function pairRows(rows: readonly Row[]): Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as Row;
    if (row.kind === "context") {
      pairs.push({ left: row, right: row });
      i += 1;
      continue;
    }
    const start = i;
    while (rows[i] && rows[i]?.kind !== "context") i += 1;
    const change = rows.slice(start, i);
    pairs.push(...pairChange(change));
  }
  return pairs;
}

function pairChange(change: readonly Row[]): Pair[] {
  const removed = change.filter((row) => row.kind === "remove");
  const added = change.filter((row) => row.kind === "add");
  const height = Math.max(removed.length, added.length);
  return Array.from({ length: height }, (_, i) => ({ left: removed[i] ?? null, right: added[i] ?? null }));
}
