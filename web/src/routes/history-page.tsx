// The history, within the same frame as a conversation: what waits for approval can be decided from here, too.
import { Suspense, lazy } from "react";

import type { AskedFor } from "../api/executions";
import type { RiskLevel } from "../api/message";
import { Artefact } from "../features/approvals/preview/artefact";
import { RiskBadge } from "../features/approvals/card/risk-badge";
import { useApprovals } from "../features/approvals/store";
import { useWorkspaceName } from "../features/workspaces/queries";
import { useProjectId } from "../lib/project-address";
import { useAnyConnection } from "./connection";
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
  const projectId = useProjectId();
  const workspace = useWorkspaceName();
  const select = useApprovals((queue) => queue.select);
  return (
    <Shell socket={socket} sessionId={null}>
      <Suspense fallback={<main className={styles.loading}>Loading…</main>}>
        {/* Another workspace has another history: nothing of the last one is kept. */}
        <HistoryView key={projectId} projectId={projectId} workspace={workspace} onReview={select} showRisk={showRisk} showPreview={showPreview} />
      </Suspense>
    </Shell>
  );
}
