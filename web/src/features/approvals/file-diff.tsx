// The changed lines of one file, and what was left out of them.
import { useEffect, useMemo, useState } from "react";

import { Button } from "../../ui/button";
import type { DiffLine } from "./diff";
import styles from "./diff-preview.module.css";
import { DiffChunk } from "./diff-rows";
import type { Highlight, View } from "./diff-rows";
import { languageOf } from "./language";
import "./code-colours.css";

/** Drawing everything at once would freeze the page on a generated file; the rest comes on request. */
export const FIRST_ROWS = 1000;
const MORE_ROWS = 3000;
const CHUNK_ROWS = 200;

interface FileDiffProps {
  lines: readonly DiffLine[];
  /** How many lines the server left out. */
  omitted: number;
  path: string;
  view: View;
  /** How many lines are not on the page, so that the decision can be told apart from a full review. */
  onHidden: (lines: number) => void;
}

export function FileDiff({ lines, omitted, path, view, onHidden }: FileDiffProps) {
  const [limit, setLimit] = useState(FIRST_ROWS);
  const hidden = Math.max(0, lines.length - limit);
  useEffect(() => onHidden(hidden + omitted), [hidden, omitted, onHidden]);
  return (
    <>
      <Rows lines={lines} limit={limit} view={view} path={path} />
      {hidden > 0 && (
        <footer className={styles.footer}>
          <span>{hidden.toLocaleString("en")} more lines</span>
          <Button size="small" onClick={() => setLimit(limit + MORE_ROWS)}>
            Show more
          </Button>
        </footer>
      )}
      {omitted > 0 && <p className={styles.omitted}>… {omitted.toLocaleString("en")} lines left out</p>}
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

/** In a diff of one file its name stands above already. */
export function withoutOnlyFile(lines: DiffLine[]): DiffLine[] {
  const files = lines.filter((line) => line.kind === "file").length;
  return files > 1 ? lines : lines.filter((line) => line.kind !== "file");
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
