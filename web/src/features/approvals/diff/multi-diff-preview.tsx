// Several files changed by one call: a list to jump from, then each file's change, deletions first.
import { useCallback, useEffect, useId, useMemo, useState } from "react";

import { previewOf } from "../../../api/message";
import type { ChangedFile, Previewed } from "../../../api/message";
import { Visible } from "../../../ui/visible";
import { parseDiff } from "./diff";
import type { DiffLine } from "./diff";
import type { View } from "./diff-rows";
import styles from "./diff-preview.module.css";
import { FileChips } from "./file-chips";
import { FIRST_ROWS, FileDiff, LineCounts } from "./file-diff";
import { useDiff } from "./use-diff";
import { ViewSwitch, useDiffView } from "./view-switch";

interface Parsed {
  file: ChangedFile;
  added: number;
  removed: number;
  /** The first screens of a change are open; what is far down opens on request. */
  isOpenAtFirst: boolean;
}

interface MultiDiffPreviewProps {
  request: Previewed;
  onHidden: (lines: number) => void;
}

export function MultiDiffPreview({ request, onHidden }: MultiDiffPreviewProps) {
  const { files = NO_FILES } = previewOf(request);
  return <ChangedFiles files={files} request={request} onHidden={onHidden} />;
}

interface ChangedFilesProps {
  files: readonly ChangedFile[];
  request: Pick<Previewed, "request_id" | "workspace">;
  onHidden: (lines: number) => void;
}

/** Each file's change, with a list to jump from. */
export function ChangedFiles({ files, request, onHidden }: ChangedFilesProps) {
  const parsed = useMemo(() => parseFiles(files), [files]);
  const layout = useDiffView();
  const prefix = useId();
  const onFileHidden = useHiddenSum(onHidden);
  return (
    <section className={styles.several} aria-label={`Changes to ${files.length === 1 ? "1 file" : `${files.length} files`}`} data-view={layout.view} data-part>
      <header className={styles.listHeader}>
        <nav aria-label="Changed files">
          <ol className={styles.list}>
            {parsed.map(({ file, added, removed }, index) => (
              <li key={file.file_path}>
                <JumpLink target={`${prefix}${index}`} path={file.file_path} />
                <span className={styles.counts}>
                  {file.is_deleted && <span className={styles.removed}>deleted</span>}
                  {file.is_new_file && <span className={styles.added}>new</span>}
                  {added + removed > 0 && <LineCounts added={added} removed={removed} />}
                </span>
              </li>
            ))}
          </ol>
        </nav>
        <ViewSwitch {...layout} />
      </header>
      {parsed.map((change, index) => (
        <FileSection
          key={change.file.file_path}
          id={`${prefix}${index}`}
          request={request}
          change={change}
          view={layout.view}
          onHidden={onFileHidden}
        />
      ))}
    </section>
  );
}

/** Deletions cannot be seen in what remains: they come first. Otherwise as the server has them. */
function parseFiles(files: readonly ChangedFile[]): Parsed[] {
  const ordered = [...files.filter((file) => file.is_deleted), ...files.filter((file) => !file.is_deleted)];
  let rows = 0;
  return ordered.map((file) => {
    const lines = parseDiff(linesOf(file));
    const isOpenAtFirst = rows < FIRST_ROWS;
    rows += lines.length;
    return { file, isOpenAtFirst, added: count(lines, "add"), removed: count(lines, "remove") };
  });
}

const NO_FILES: readonly ChangedFile[] = [];

/** One and the same list where there is none: what is derived from it stays as it is. */
const NO_LINES: readonly string[] = [];

function linesOf(file: ChangedFile): readonly string[] {
  return file.diff_lines ?? NO_LINES;
}

function count(lines: readonly DiffLine[], kind: DiffLine["kind"]): number {
  return lines.filter((line) => line.kind === kind).length;
}

/** Adds up what the files do not show. */
function useHiddenSum(onHidden: (lines: number) => void): (path: string, lines: number) => void {
  const [hidden, setHidden] = useState<Record<string, number>>({});
  useEffect(() => onHidden(Object.values(hidden).reduce((sum, lines) => sum + lines, 0)), [hidden, onHidden]);
  return useCallback((path, lines) => setHidden((before) => ({ ...before, [path]: lines })), []);
}

function JumpLink({ target, path }: { target: string; path: string }) {
  const onClick = (event: React.MouseEvent) => {
    // The address says which page this is; a place in a scroller is not part of it.
    event.preventDefault();
    const file = document.getElementById(target);
    if (!(file instanceof HTMLDetailsElement)) return;
    file.open = true;
    file.scrollIntoView({ block: "start" });
    file.querySelector("summary")?.focus({ preventScroll: true });
  };
  return (
    <a href={`#${target}`} onClick={onClick}>
      <Visible text={path} />
    </a>
  );
}

interface FileSectionProps {
  id: string;
  request: Pick<Previewed, "request_id" | "workspace">;
  change: Parsed;
  view: View;
  onHidden: (path: string, lines: number) => void;
}

function FileSection({ id, request, change: { file, added, removed, isOpenAtFirst }, view, onHidden }: FileSectionProps) {
  // Once it was open it has been seen, also when it is folded away again.
  const [wasOpened, setOpened] = useState(isOpenAtFirst);
  const path = file.file_path;
  const diff = useDiff({ request, file: file.index ?? null, lines: linesOf(file), omitted: file.omitted_lines ?? 0 });
  const rows = diff.before.length + diff.after.length;
  const onFileHidden = useCallback((hidden: number) => onHidden(path, hidden), [onHidden, path]);
  useEffect(() => {
    if (!wasOpened) onFileHidden(rows + diff.missing);
  }, [wasOpened, rows, diff.missing, onFileHidden]);
  return (
    <details
      id={id}
      className={styles.file}
      open={isOpenAtFirst}
      onToggle={(event) => event.currentTarget.open && setOpened(true)}
    >
      <summary className={styles.fileHeader} data-hides={wasOpened || rows + diff.missing === 0 ? undefined : true}>
        <span className={styles.path}>
          <Visible text={path} />
        </span>
        <span className={styles.counts}>
          <FileChips facts={file} />
          {added + removed > 0 && <LineCounts added={added} removed={removed} />}
        </span>
      </summary>
      <section aria-label={`Changes to ${path}`}>
        {rows === 0 && <p className={styles.noLines}>{file.is_binary ? "Not text: no lines to show" : "No line changes"}</p>}
        {wasOpened && <FileDiff diff={diff} path={path} view={view} onHidden={onFileHidden} />}
      </section>
    </details>
  );
}
