import { useMemo } from "react";

import { previewOf } from "../../api/message";
import type { ApprovalRequest } from "../../api/message";
import { Visible } from "../../ui/visible";
import { parseDiff } from "./diff";
import styles from "./diff-preview.module.css";
import { FileChips } from "./file-chips";
import { FileDiff, LineCounts, withoutOnlyFile } from "./file-diff";
import { ViewSwitch, useDiffView } from "./view-switch";

interface DiffPreviewProps {
  request: ApprovalRequest;
  /** How many lines are not on the page, so that the decision can be told apart from a full review. */
  onHidden: (lines: number) => void;
}

export function DiffPreview({ request, onHidden }: DiffPreviewProps) {
  const lines = useMemo(() => withoutOnlyFile(parseDiff(request.diff_lines)), [request.diff_lines]);
  const layout = useDiffView();
  const path = request.file_path ?? "";
  const omitted = omittedLines(request);
  const { added, removed } = request.diff_stat ?? { added: 0, removed: 0 };
  return (
    <section className={styles.diff} aria-label={`Changes to ${path}`} data-view={layout.view}>
      <header className={styles.header}>
        <div className={styles.counts}>
          <FileChips facts={previewOf(request)} />
          <LineCounts added={added} removed={removed} />
        </div>
        <ViewSwitch {...layout} />
      </header>
      <Notes request={request} isEmpty={lines.length === 0} />
      <FileDiff lines={lines} omitted={omitted} path={path} view={layout.view} onHidden={onHidden} />
    </section>
  );
}

/** How many lines of the diff the server left out. */
function omittedLines(request: ApprovalRequest): number {
  return request.diff_stat?.omitted ?? previewOf(request).omitted_lines ?? 0;
}

function Notes({ request, isEmpty }: { request: ApprovalRequest; isEmpty: boolean }) {
  const omitted = omittedLines(request);
  if (omitted > 0) {
    return (
      <p className={styles.note}>
        ▲ {omitted.toLocaleString("en")} lines were left out of this diff: it does not show everything that will be written.
      </p>
    );
  }
  if (isEmpty) {
    return (
      <p className={styles.note}>
        No line changes. See the raw input of <Visible text={request.tool_name} /> below.
      </p>
    );
  }
  return null;
}
