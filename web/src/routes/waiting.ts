// How much waits in each workspace.
import { useMemo } from "react";

import { useApprovals } from "../features/approvals/store";

export function useWaitingByWorkspace(): Record<string, number> {
  const entries = useApprovals((queue) => queue.entries);
  return useMemo(() => {
    const counts: Record<string, number> = {};
    for (const { request, isShown } of entries) {
      const { project_id: id } = request.workspace;
      if (isShown) counts[id] = (counts[id] ?? 0) + 1;
    }
    return counts;
  }, [entries]);
}
