// The rules, within the same frame as a conversation: what waits for approval is never out of sight.
import { Suspense, lazy } from "react";

import type { CommandPart, RiskLevel } from "../api/message";
import { useAgent } from "../features/agent/store";
import { CommandParts } from "../features/approvals/preview/command-parts";
import { RiskBadge } from "../features/approvals/card/risk-badge";
import { useWorkspaceName } from "../features/workspaces/queries";
import { useProjectId } from "../lib/project-address";
import { useAnyConnection } from "./connection";
import styles from "./rules-page.module.css";
import { Shell } from "./shell";

/** Few come here, and seldom: it is fetched when they do. */
const RulesView = lazy(async () => ({ default: (await import("../features/rules/rules-view")).RulesView }));

const showParts = (parts: readonly CommandPart[]) => <CommandParts parts={parts} />;
const showRisk = (level: RiskLevel) => <RiskBadge level={level} />;

export function RulesPage({ tab }: { tab: string }) {
  const socket = useAnyConnection();
  const sessionId = useAgent((state) => state.sessionId);
  const projectId = useProjectId();
  const workspace = useWorkspaceName();
  return (
    <Shell socket={socket} sessionId={null}>
      <Suspense fallback={<main className={styles.loading}>Loading…</main>}>
        <RulesView projectId={projectId} workspace={workspace} tab={tab} sessionId={sessionId} showParts={showParts} showRisk={showRisk} />
      </Suspense>
    </Shell>
  );
}
