import { previewOf } from "../../../api/message";
import type { Previewed } from "../../../api/message";
import { Visible } from "../../../ui/visible";
import styles from "./diff-preview.module.css";
import { FileChips } from "./file-chips";
import { FileDiff, LineCounts } from "./file-diff";
import { useDiff } from "./use-diff";
import type { ShownDiff } from "./use-diff";
import { ViewSwitch, useDiffView } from "./view-switch";

interface DiffPreviewProps {
  request: Previewed;
  /** How many lines are not on the page, so that the decision can be told apart from a full review. */
  onHidden: (lines: number) => void;
}

export function DiffPreview({ request, onHidden }: DiffPreviewProps) {
  const diff = useDiff({ request, file: 0, lines: request.diff_lines, omitted: omittedLines(request) });
  const layout = useDiffView();
  const path = request.file_path ?? "";
  const { added, removed } = request.diff_stat ?? { added: 0, removed: 0 };
  return (
    <section className={styles.diff} aria-label={`Changes to ${path}`} data-view={layout.view} data-part>
      <header className={styles.header}>
        <div className={styles.counts}>
          <FileChips facts={previewOf(request)} />
          <LineCounts added={added} removed={removed} />
        </div>
        <ViewSwitch {...layout} />
      </header>
      <Notes request={request} diff={diff} />
      <FileDiff diff={diff} path={path} view={layout.view} onHidden={onHidden} />
    </section>
  );
}

/** How many lines of the diff the server left out. */
function omittedLines(request: Previewed): number {
  return request.diff_stat?.omitted ?? previewOf(request).omitted_lines ?? 0;
}

function Notes({ request, diff: { before, missing, rest } }: { request: Previewed; diff: ShownDiff }) {
  if (missing > 0) {
    return (
      <p className={styles.note}>
        ▲ {missing.toLocaleString("en")} lines {rest?.isBegun ? "are still" : "were"} left out of this diff: it does not show everything that will
        be written.
      </p>
    );
  }
  if (before.length === 0) {
    return (
      <p className={styles.note}>
        No line changes. See the raw input of <Visible text={request.tool_name} /> below.
      </p>
    );
  }
  return null;
}
