// The changed lines of one file, and what was left out of them.
import { useEffect, useMemo, useState } from "react";

import { Button } from "../../../ui/button";
import type { DiffLine } from "./diff";
import styles from "./diff-preview.module.css";
import { DiffChunk } from "./diff-rows";
import type { Highlight, View } from "./diff-rows";
import { languageOf } from "./language";
import { LeftOut } from "./left-out";
import type { ShownDiff } from "./use-diff";
import "./code-colours.css";

/** Drawing everything at once would freeze the page on a generated file; the rest comes on request. */
export const FIRST_ROWS = 1000;
const MORE_ROWS = 3000;
const CHUNK_ROWS = 200;

interface FileDiffProps {
  diff: ShownDiff;
  path: string;
  view: View;
  /** How many lines are not on the page, so that the decision can be told apart from a full review. */
  onHidden: (lines: number) => void;
}

export function FileDiff({ diff, path, view, onHidden }: FileDiffProps) {
  const { before, after, missing, rest } = diff;
  const [rows, setRows] = useState(FIRST_ROWS);
  // What comes page by page is drawn as it comes.
  const limit = rest ? before.length : rows;
  const hidden = Math.max(0, before.length - limit);
  useEffect(() => onHidden(hidden + missing), [hidden, missing, onHidden]);
  return (
    <>
      <Rows lines={before} limit={limit} view={view} path={path} />
      {hidden > 0 && (
        <footer className={styles.footer}>
          <span>{hidden.toLocaleString("en")} more lines</span>
          <Button size="small" data-hides onClick={() => setRows(rows + MORE_ROWS)}>
            Show more
          </Button>
        </footer>
      )}
      {(rest || missing > 0) && <LeftOut missing={missing} rest={rest} />}
      <Rows lines={after} limit={after.length} view={view} path={path} />
    </>
  );
}

interface RowsProps {
  lines: readonly DiffLine[];
  limit: number;
  view: View;
  path: string;
}

function Rows({ lines, limit, view, path }: RowsProps) {
  const chunks = useMemo(() => chunksOf(lines, limit), [lines, limit]);
  const language = languageOf(path);
  const highlight = useHighlight(language !== null);
  if (lines.length === 0) return null;
  return (
    <div className={styles.rows} dir="ltr">
      {chunks.map(({ start, lines: chunk }) => (
        <DiffChunk key={start} lines={chunk} view={view} language={language} highlight={highlight} />
      ))}
    </div>
  );
}

function chunksOf(lines: readonly DiffLine[], limit: number): { start: number; lines: readonly DiffLine[] }[] {
  const end = Math.min(limit, lines.length);
  const chunks = [];
  for (let start = 0; start < end; start += CHUNK_ROWS) {
    chunks.push({ start, lines: lines.slice(start, Math.min(start + CHUNK_ROWS, end)) });
  }
  return chunks;
}

export function LineCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <>
      <span className={styles.added}>
        +{added.toLocaleString("en")}
        <span className="visually-hidden"> lines added</span>
      </span>
      <span className={styles.removed}>
        −{removed.toLocaleString("en")}
        <span className="visually-hidden"> lines removed</span>
      </span>
    </>
  );
}

/** Colour comes when it comes; the text is there from the start. */
function useHighlight(isWanted: boolean): Highlight | null {
  const [highlight, setHighlight] = useState<Highlight | null>(null);
  useEffect(() => {
    let isCurrent = true;
    if (isWanted) {
      import("./highlight")
        .then((module) => isCurrent && setHighlight(() => module.highlightLines))
        .catch(() => undefined);
    }
    return () => {
      isCurrent = false;
    };
  }, [isWanted]);
  return highlight;
}
