import { useEffect, useMemo, useState } from "react";

import { previewOf } from "../../api/message";
import type { ApprovalRequest } from "../../api/message";
import { readStored, writeStored } from "../../lib/stored";
import { useMedia } from "../../lib/use-media";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Visible } from "../../ui/visible";
import { parseDiff } from "./diff";
import type { DiffLine } from "./diff";
import styles from "./diff-preview.module.css";
import { DiffChunk } from "./diff-rows";
import type { Highlight, View } from "./diff-rows";
import { languageOf } from "./language";
import "./code-colours.css";

/** Drawing everything at once would freeze the page on a generated file; the rest comes on request. */
const FIRST_ROWS = 1000;
const MORE_ROWS = 3000;
const CHUNK_ROWS = 200;

interface DiffPreviewProps {
  request: ApprovalRequest;
  /** How many lines are not on the page, so that the decision can be told apart from a full review. */
  onHidden: (lines: number) => void;
}

export function DiffPreview({ request, onHidden }: DiffPreviewProps) {
  const lines = useMemo(() => withoutOnlyFile(parseDiff(request.diff_lines)), [request.diff_lines]);
  const [limit, setLimit] = useState(FIRST_ROWS);
  const hidden = Math.max(0, lines.length - limit);
  const isNarrow = useMedia("(max-width: 760px)");
  const [view, setView] = useView();
  const path = request.file_path ?? "";

  const omitted = omittedLines(request);

  useEffect(() => onHidden(hidden + omitted), [hidden, omitted, onHidden]);

  return (
    <section className={styles.diff} aria-label={`Changes to ${path}`} data-view={isNarrow ? "unified" : view}>
      <header className={styles.header}>
        <Counts request={request} />
        {!isNarrow && <ViewSwitch view={view} onChange={setView} />}
      </header>
      <Notes request={request} lines={lines} />
      <Rows lines={lines} limit={limit} view={isNarrow ? "unified" : view} path={path} />
      {hidden > 0 && (
        <footer className={styles.footer}>
          <span>{hidden.toLocaleString("en")} more lines</span>
          <Button size="small" onClick={() => setLimit(limit + MORE_ROWS)}>
            Show more
          </Button>
        </footer>
      )}
    </section>
  );
}

/** How many lines of the diff the server left out. */
function omittedLines(request: ApprovalRequest): number {
  return request.diff_stat?.omitted ?? 0;
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
  return (
    <div className={styles.rows} dir="ltr">
      {chunks.map(({ start, lines: chunk }) => (
        <DiffChunk key={start} lines={chunk} view={view} language={language} highlight={highlight} />
      ))}
    </div>
  );
}

/** In a diff of one file its name stands above already. */
function withoutOnlyFile(lines: DiffLine[]): DiffLine[] {
  const files = lines.filter((line) => line.kind === "file").length;
  return files > 1 ? lines : lines.filter((line) => line.kind !== "file");
}

function chunksOf(lines: readonly DiffLine[], limit: number): { start: number; lines: readonly DiffLine[] }[] {
  const end = Math.min(limit, lines.length);
  const chunks = [];
  for (let start = 0; start < end; start += CHUNK_ROWS) {
    chunks.push({ start, lines: lines.slice(start, Math.min(start + CHUNK_ROWS, end)) });
  }
  return chunks;
}

function Counts({ request }: { request: ApprovalRequest }) {
  const { added, removed } = request.diff_stat ?? { added: 0, removed: 0 };
  return (
    <div className={styles.counts}>
      {previewOf(request).is_new_file && (
        <Badge tone="good" symbol="✦">
          New file
        </Badge>
      )}
      <span className={styles.added}>
        +{added.toLocaleString("en")}
        <span className="visually-hidden"> lines added</span>
      </span>
      <span className={styles.removed}>
        −{removed.toLocaleString("en")}
        <span className="visually-hidden"> lines removed</span>
      </span>
    </div>
  );
}

function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <div className={styles.switch} role="group" aria-label="Diff layout">
      <button type="button" aria-pressed={view === "unified"} onClick={() => onChange("unified")}>
        Unified
      </button>
      <button type="button" aria-pressed={view === "split"} onClick={() => onChange("split")}>
        Side by side
      </button>
    </div>
  );
}

function Notes({ request, lines }: { request: ApprovalRequest; lines: readonly DiffLine[] }) {
  const omitted = omittedLines(request);
  if (omitted > 0) {
    return (
      <p className={styles.note}>
        ▲ {omitted.toLocaleString("en")} lines were left out of this diff: it does not show everything that will be written.
      </p>
    );
  }
  if (lines.length === 0) {
    return (
      <p className={styles.note}>
        No line changes. See the raw input of <Visible text={request.tool_name} /> below.
      </p>
    );
  }
  return null;
}

function useView(): [View, (view: View) => void] {
  const [view, setView] = useState<View>(() => (readStored("localStorage", "diff") === "split" ? "split" : "unified"));
  const change = (next: View) => {
    writeStored("localStorage", "diff", next);
    setView(next);
  };
  return [view, change];
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
