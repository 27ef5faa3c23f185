// The rows of a diff. Drawn in chunks, so that the browser skips what is out of sight.
import { memo, useEffect, useMemo, useRef, useState } from "react";

import { classNames } from "../../../lib/class-names";
import { BLANKS, LONG_LINE } from "../../../lib/visible-text";
import { Visible } from "../../../ui/visible";
import { isSameLine, pairRows } from "./diff";
import type { DiffLine, Row } from "./diff";
import type { highlightLines } from "./highlight";
import { paintLine } from "./paint";
import type { Span, Token } from "./paint";
import styles from "./diff-rows.module.css";

export type Highlight = typeof highlightLines;
export type View = "unified" | "split";

/** From here on its end is folded away behind a button that says so. */
const HUGE_LINE = 2000;

/** Printable ASCII without a run of blanks worth counting, where a line begins and further on. */
const NOTHING_HIDDEN_AT_START = /^(?! {81})(?!.*\S {9})[\x20-\x7e]*$/;
const NOTHING_HIDDEN_INSIDE = /^(?!.* {9})[\x20-\x7e]*$/;

/** The height of a row that is not broken, as the style has it: a chunk out of sight is taken to be so many. */
const ROW_PX = 20;

/** Fewer rows than these are laid out at once: guessing their height would move what follows them. */
const SMALL = 100;

const SIGNS = { add: "+", remove: "−", context: " " } as const;

interface ChunkProps {
  lines: readonly DiffLine[];
  view: View;
  language: string | null;
  highlight: Highlight | null;
}

export const DiffChunk = memo(function DiffChunk({ lines, view, language, highlight }: ChunkProps) {
  const [frame, isNear] = useNear();
  const colours = useMemo(
    () => (language && highlight && isNear ? colour(lines, language, highlight) : null),
    [lines, language, highlight, isNear],
  );
  return (
    <div className={lines.length < SMALL ? undefined : styles.chunk} ref={frame} style={{ containIntrinsicBlockSize: `auto ${lines.length * ROW_PX}px` }}>
      {blocksOf(lines).map((block) =>
        block.header ? (
          <Header key={block.key} line={block.header} />
        ) : view === "split" ? (
          <SplitBlock key={block.key} rows={block.rows} colours={colours} />
        ) : (
          block.rows.map((row) => <UnifiedRow key={rowKey(row)} row={row} tokens={colours?.get(row) ?? null} />)
        ),
      )}
    </div>
  );
}, isSameChunk);

/** When more lines come, the diff is read anew; what reads as before need not be drawn again. */
function isSameChunk(before: ChunkProps, after: ChunkProps): boolean {
  return (
    before.view === after.view &&
    before.language === after.language &&
    before.highlight === after.highlight &&
    before.lines.length === after.lines.length &&
    before.lines.every((line, index) => isSameLine(line, after.lines[index]))
  );
}

/** Whether an element has ever come near the screen: colouring what nobody looks at would only cost time. */
function useNear(): [React.RefObject<HTMLDivElement | null>, boolean] {
  const frame = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setNear(true), {
      rootMargin: "800px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [frame, isNear];
}

type Colours = Map<Row, Token[]>;

function rowKey(row: Row): string {
  return `${row.kind}${row.oldNumber ?? ""}:${row.newNumber ?? ""}`;
}

type Block =
  | { key: string; header: Exclude<DiffLine, Row>; rows: [] }
  | { key: string; header: null; rows: Row[] };

/** Headers stand alone; the rows between them belong together. */
function blocksOf(lines: readonly DiffLine[]): Block[] {
  const blocks: Block[] = [];
  for (const [index, line] of lines.entries()) {
    const last = blocks.at(-1);
    if (line.kind === "file" || line.kind === "hunk") blocks.push({ key: `h${index}`, header: line, rows: [] });
    else if (last && last.header === null) last.rows.push(line);
    else blocks.push({ key: `r${index}`, header: null, rows: [line] });
  }
  return blocks;
}

/** Each side is coloured as the text it is; a grammar must not see both at once. */
function colour(lines: readonly DiffLine[], language: string, highlight: Highlight): Colours | null {
  const rows = lines.filter((line): line is Row => line.kind !== "file" && line.kind !== "hunk");
  if (rows.some((row) => row.text.length > HUGE_LINE)) return null;
  const colours: Colours = new Map();
  for (const side of ["remove", "add"] as const) {
    const own = rows.filter((row) => row.kind === side || row.kind === "context");
    const tokens = highlight(own.map((row) => row.text), language);
    own.forEach((row, index) => colours.set(row, tokens[index] ?? []));
  }
  return colours;
}

function Header({ line }: { line: Exclude<DiffLine, Row> }) {
  if (line.kind === "hunk") return <div className={styles.hunk}>{line.text}</div>;
  return (
    <div className={styles.file}>
      <Visible text={line.path} />
    </div>
  );
}

function UnifiedRow({ row, tokens }: { row: Row; tokens: Token[] | null }) {
  return (
    <div className={classNames(styles.row, styles[row.kind])}>
      <span className={styles.number} data-number={row.oldNumber ?? ""} />
      <span className={styles.number} data-number={row.newNumber ?? ""} />
      <span className={styles.sign}>{SIGNS[row.kind]}</span>
      <Code row={row} tokens={tokens} />
    </div>
  );
}

function SplitBlock({ rows, colours }: { rows: readonly Row[]; colours: Colours | null }) {
  return pairRows(rows).map(({ left, right }) => (
    <div key={`${left?.oldNumber ?? ""}:${right?.newNumber ?? ""}`} className={styles.pair}>
      <Half row={left} number={left?.oldNumber} colours={colours} />
      <Half row={right} number={right?.newNumber} colours={colours} />
    </div>
  ));
}

interface HalfProps {
  row: Row | null;
  number: number | null | undefined;
  colours: Colours | null;
}

function Half({ row, number, colours }: HalfProps) {
  if (!row) return <div className={classNames(styles.half, styles.nothing)} />;
  return (
    <div className={classNames(styles.half, styles[row.kind])}>
      <span className={styles.number} data-number={number ?? ""} />
      <span className={styles.sign}>{SIGNS[row.kind]}</span>
      <Code row={row} tokens={colours?.get(row) ?? null} />
    </div>
  );
}

function Code({ row, tokens }: { row: Row; tokens: Token[] | null }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = row.text.length > HUGE_LINE && !isWhole;
  const text = isCut ? row.text.slice(0, HUGE_LINE) : row.text;
  const indent = text.search(/[^ \t]|$/);
  return (
    <code className={styles.code}>
      {paintLine(text, tokens, row.mark).map((span) => (
        <Painted key={span.start} span={span} indent={indent} />
      ))}
      {isCut && (
        <button type="button" className={styles.long} data-hides onClick={() => setWhole(true)}>
          … show the other {(row.text.length - HUGE_LINE).toLocaleString("en")} characters
        </button>
      )}
      {row.text.length > LONG_LINE && (
        <span className={styles.long}>{row.text.length.toLocaleString("en")} characters in this line</span>
      )}
    </code>
  );
}

/** Most spans are plain letters: those become bare text, which keeps a long diff light. */
function Painted({ span, indent }: { span: Span; indent: number }) {
  // Blanks in the middle of a line push its end out of sight; indentation does not.
  const isAtStart = span.start <= indent;
  const isPlain = (isAtStart ? NOTHING_HIDDEN_AT_START : NOTHING_HIDDEN_INSIDE).test(span.text);
  const text = isPlain ? span.text : <Visible text={span.text} blanks={BLANKS} indent={isAtStart} />;
  if (span.className === "" && !span.isMarked) return text;
  return (
    <span className={classNames(span.className && `code-${span.className}`, span.isMarked && styles.mark)}>{text}</span>
  );
}
