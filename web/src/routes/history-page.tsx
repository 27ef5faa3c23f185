// The history, within the same frame as a conversation: what waits for approval can be decided from here, too.
import { Suspense, lazy } from "react";

import type { AskedFor } from "../api/executions";
import type { RiskLevel } from "../api/message";
import { Artefact } from "../features/approvals/artefact";
import { RiskBadge } from "../features/approvals/risk-badge";
import { useApprovals } from "../features/approvals/store";
import { useWorkspaces } from "../features/workspaces/store";
import { useProjectId } from "../lib/project-address";
import { useAnyConnection, useLink } from "./connection";
import styles from "./history-page.module.css";
import { Shell } from "./shell";

/** Fetched when somebody comes here. */
const HistoryView = lazy(async () => ({ default: (await import("../features/history/history-view")).HistoryView }));

const showRisk = (level: RiskLevel) => <RiskBadge level={level} />;
const showPreview = (asked: AskedFor) => <Artefact request={asked} onHidden={ignore} />;

/** Nothing is decided here, so nothing depends on how much of a change is shown. */
function ignore() {}

export function HistoryPage() {
  const socket = useAnyConnection();
  const version = useLink((state) => state.changes);
  const projectId = useProjectId();
  const workspace = useWorkspaces((state) => state.open?.project?.name ?? null);
  const select = useApprovals((queue) => queue.select);
  return (
    <Shell socket={socket} sessionId={null}>
      <Suspense fallback={<main className={styles.loading}>Loading…</main>}>
        <HistoryView projectId={projectId} workspace={workspace} version={version} onReview={select} showRisk={showRisk} showPreview={showPreview} />
      </Suspense>
    </Shell>
  );
}
