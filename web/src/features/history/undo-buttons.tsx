// The way back: undoing a call, or the run it is part of. Each shows first what it would do.
import { useState } from "react";

import type { Execution } from "../../api/executions";
import type { UndoScope } from "../../api/undo";
import { Button } from "../../ui/button";
import styles from "./call-details.module.css";
import type { Pictures } from "./pictures";
import { UndoSheet } from "./undo-sheet";

interface UndoButtonsProps extends Pick<Pictures, "showPreview"> {
  call: Execution;
}

/** Nothing for calls that changed nothing here: those that did not run, only read, or ran on another machine. */
export function UndoButtons({ call, showPreview }: UndoButtonsProps) {
  const [scope, setScope] = useState<UndoScope | null>(null);
  const { project_id: projectId } = call.workspace;
  const { tool_id: id, run_id: run, status, origin, risk_level: risk } = call;
  const hasRun = status === "completed" || status === "failed";
  if (!hasRun || risk === "LOW" || origin === "client") return null;
  return (
    <div className={styles.undo}>
      <Button size="small" onClick={() => setScope({ projectId, of: "tools", id })}>
        Undo…
      </Button>
      {run !== null && (
        <Button size="small" look="quiet" onClick={() => setScope({ projectId, of: "runs", id: run })}>
          Undo the whole run…
        </Button>
      )}
      {scope !== null && <UndoSheet scope={scope} showPreview={showPreview} onClose={() => setScope(null)} />}
    </div>
  );
}
